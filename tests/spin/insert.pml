/* Insertion of one key into a filter: at most one of the racing threads is told "new".
 *
 * The key owns BITS bits in each of WORDS words, and only these bits are modelled. Every load and
 * every fetch_or is one step. The loads of one insertion happen in any order, so that what is
 * checked also holds where compilers and processors reorder them. docs/concurrency.md proves the
 * same on the C++20 memory model and names the edges that forbid every other reordering.
 *
 *   -DWORDS=2 or 4   words per key              -DTHREADS=n      insertions of the one key
 *   -DBITS=1 or 2    bits per key and word      -DINTERFERENCE   other keys set any bit at any time
 *
 * The words start in every state in which the key lacks a bit. Checked: no more than one insertion
 * returns true; without interference exactly one does; when one returns, the key is complete.
 *
 * Each of these breaks the protocol, and Spin has to find it out:
 *
 *   -DANY_CHANGE     new if any fetch_or changed a bit
 *   -DFIRST_DECIDES  the decider is the first incomplete word, not the last
 *   -DFREE_ORS       the fetch_ors happen in any order; release forbids it
 *   -DEARLY_ORS      a word may be loaded after the fetch_or on a lower one; acquire forbids it
 */

#ifndef WORDS
#define WORDS 2
#endif
#ifndef BITS
#define BITS 1
#endif
#ifndef THREADS
#define THREADS 3
#endif

#define FULL ((1 << BITS) - 1)
#define ALL ((1 << WORDS) - 1)
#define BELOW(i) ((1 << (i)) - 1)
#define HAS(set, i) (((set) >> (i)) & 1)
#define FIRST(set) ((set) & -(set))
#define LAST(set) (HAS(set, 3) -> 8 : (HAS(set, 2) -> 4 : (HAS(set, 1) -> 2 : HAS(set, 0))))

#ifdef FREE_ORS
#define TURN(i) !unread
#elif defined(EARLY_ORS)
#define TURN(i) !((unread | pending) & BELOW(i))
#else
#define TURN(i) (!unread && !(pending & BELOW(i)))
#endif

#ifdef ANY_CHANGE
#define DECIDERS incomplete
#elif defined(FIRST_DECIDES)
#define DECIDERS FIRST(incomplete)
#else
#define DECIDERS LAST(incomplete)
#endif

byte word[WORDS];  /* the key's bits in each word */
byte news;         /* the insertions that returned true */
byte returned;     /* the insertions that returned */

#define LOAD(i)                                                                             \
  atomic {                                                                                  \
    HAS(unread, i) ->                                                                       \
    unread = unread & ~(1 << i);                                                            \
    incomplete = incomplete | ((word[i] != FULL) << i);                                     \
    pending = pending | ((word[i] != FULL) << i)                                            \
  }

/* The last line forgets what cannot matter any more, which saves states. */
#define OR(i)                                                                               \
  atomic {                                                                                  \
    HAS(pending, i) && TURN(i) ->                                                           \
    pending = pending & ~(1 << i);                                                          \
    changed = (changed | ((word[i] != FULL) << i)) & DECIDERS;                              \
    word[i] = FULL;                                                                         \
    incomplete = incomplete & (pending | DECIDERS)                                          \
  }

proctype Insert() {
  byte unread = ALL;    /* words that are not loaded yet */
  byte incomplete = 0;  /* words that were incomplete when they were loaded */
  byte pending = 0;     /* those of them whose fetch_or is still to come */
  byte changed = 0;     /* those whose fetch_or set a bit */
  do
  :: LOAD(0)
  :: LOAD(1)
  :: OR(0)
  :: OR(1)
#if WORDS == 4
  :: LOAD(2)
  :: LOAD(3)
  :: OR(2)
  :: OR(3)
#endif
  :: atomic {
       !unread && !pending ->
       assert(word[0] == FULL && word[1] == FULL);
#if WORDS == 4
       assert(word[2] == FULL && word[3] == FULL);
#endif
       news = news + ((changed & DECIDERS) != 0);
       returned++;
       assert(news <= 1);
#ifndef INTERFERENCE
       assert(returned < THREADS || news == 1);
#endif
       incomplete = 0;
       changed = 0;
       break
     }
  od
}

#ifdef INTERFERENCE
#define SET(i, bit) atomic { !HAS(word[i], bit) -> word[i] = word[i] | (1 << bit) }

/* Other keys and merge: every bit may be set at every moment, or never. */
proctype Interfere() {
end:
  do
  :: SET(0, 0)
  :: SET(1, 0)
#if WORDS == 4
  :: SET(2, 0)
  :: SET(3, 0)
#endif
#if BITS == 2
  :: SET(0, 1)
  :: SET(1, 1)
#if WORDS == 4
  :: SET(2, 1)
  :: SET(3, 1)
#endif
#endif
  od
}
#endif

init {
  byte i;
  byte bits;
  byte complete;
  atomic {
    for (i : 0 .. WORDS - 1) {
      select(bits : 0 .. FULL);
      word[i] = bits;
      complete = complete + (bits == FULL)
    }
    if
    :: complete < WORDS ->
#ifdef INTERFERENCE
       run Interfere();
#endif
       for (i : 1 .. THREADS) {
         run Insert()
       }
    :: else  /* The key is there from the start, and nothing is to be shown. */
    fi
  }
}
