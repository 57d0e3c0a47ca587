/* Insertion of one key into a filter: at most one of the racing threads is told "new".
 *
 * The key owns BITS bits, and only these are modelled. Every load of a bit and every setting of one
 * is a step of its own. The code does more at once: it loads a word with all its bits, and sets
 * several bits of a word in one operation. That only takes interleavings away, so the model covers
 * 2 and 4 words with one bit of the key each as well as fewer words with more of them.
 *
 * The loads of one insertion happen in any order, so that what is checked also holds where
 * compilers and processors reorder them. docs/concurrency.md proves the same on the C++20 memory
 * model and names the edges that forbid every other reordering.
 *
 *   -DBITS=2 to 6   -DTHREADS=n, insertions of the one key
 *   -DINTERFERENCE, other keys set any bit at any time
 *
 * The bits start in every state in which one of them is missing. Checked: at most one insertion
 * returns true; without interference exactly one does; when one returns, all bits are set.
 *
 * Each of these breaks the protocol, and Spin has to find it out:
 *
 *   -DANY_CHANGE     new if any of the bits was clear when it was set
 *   -DFIRST_DECIDES  the decider is the first missing bit, not the last
 *   -DFREE_ORDER     the bits are set in any order; release forbids it
 *   -DEARLY_SET      a bit may be loaded after a lower one was set; acquire forbids it
 */

#ifndef BITS
#define BITS 2
#endif
#ifndef THREADS
#define THREADS 3
#endif

#define ALL ((1 << BITS) - 1)
#define BELOW(i) ((1 << (i)) - 1)
#define HAS(set, i) (((set) >> (i)) & 1)
#define FIRST(set) ((set) & -(set))
#define LAST_OF_2(set) (HAS(set, 1) -> 2 : HAS(set, 0))
#define LAST_OF_4(set) (HAS(set, 3) -> 8 : (HAS(set, 2) -> 4 : LAST_OF_2(set)))
#define LAST(set) (HAS(set, 5) -> 32 : (HAS(set, 4) -> 16 : LAST_OF_4(set)))

#ifdef FREE_ORDER
#define TURN(i) !unread
#elif defined(EARLY_SET)
#define TURN(i) !((unread | pending) & BELOW(i))
#else
#define TURN(i) (!unread && !(pending & BELOW(i)))
#endif

#ifdef ANY_CHANGE
#define DECIDERS missing
#elif defined(FIRST_DECIDES)
#define DECIDERS FIRST(missing)
#else
#define DECIDERS LAST(missing)
#endif

byte bits;      /* those of the key's bits that are set */
byte news;      /* the insertions that returned true */
byte returned;  /* the insertions that returned */

#define LOAD(i)                                                                             \
  atomic {                                                                                  \
    HAS(unread, i) ->                                                                       \
    unread = unread & ~(1 << i);                                                            \
    missing = missing | (!HAS(bits, i) << i);                                               \
    pending = pending | (!HAS(bits, i) << i)                                                \
  }

/* The last line forgets what cannot matter any more, which saves states. */
#define SET(i)                                                                              \
  atomic {                                                                                  \
    HAS(pending, i) && TURN(i) ->                                                           \
    pending = pending & ~(1 << i);                                                          \
    changed = (changed | (!HAS(bits, i) << i)) & DECIDERS;                                  \
    bits = bits | (1 << i);                                                                 \
    missing = missing & (pending | DECIDERS)                                                \
  }

proctype Insert() {
  byte unread = ALL;  /* bits that are not loaded yet */
  byte missing = 0;   /* bits that were clear when they were loaded */
  byte pending = 0;   /* those of them that are still to be set */
  byte changed = 0;   /* those that were clear when they were set */
  do
  :: LOAD(0)
  :: SET(0)
  :: LOAD(1)
  :: SET(1)
#if BITS > 2
  :: LOAD(2)
  :: SET(2)
#endif
#if BITS > 3
  :: LOAD(3)
  :: SET(3)
#endif
#if BITS > 4
  :: LOAD(4)
  :: SET(4)
#endif
#if BITS > 5
  :: LOAD(5)
  :: SET(5)
#endif
  :: atomic {
       !unread && !pending ->
       assert(bits == ALL);
       news = news + ((changed & DECIDERS) != 0);
       returned++;
       assert(news <= 1);
#ifndef INTERFERENCE
       assert(returned < THREADS || news == 1);
#endif
       missing = 0;
       changed = 0;
       break
     }
  od
}

#ifdef INTERFERENCE
/* Other keys and merge: every bit may be set at every moment, or never. */
proctype Interfere() {
  byte i;
end:
  do
  :: atomic {
       bits != ALL ->
       select(i : 0 .. BITS - 1);
       bits = bits | (1 << i);
       i = 0
     }
  od
}
#endif

init {
  byte i;
  atomic {
    /* If the key is there from the start, nothing is to be shown. */
    select(i : 0 .. ALL - 1);
    bits = i;
#ifdef INTERFERENCE
    run Interfere();
#endif
    for (i : 1 .. THREADS) {
      run Insert()
    }
  }
}
