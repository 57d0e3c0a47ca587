/* Insertion of one key into a chain of filters that grows: at most one thread is told "new".
 *
 * The key owns BITS bits in each of LINKS links. `head` numbers the newest link, and the next one is
 * published at any moment. Every load and every setting of a bit is one step, as in insert.pml, and
 * the loads between two reads of `head` happen in any order. docs/concurrency.md proves
 * the same on the C++20 memory model.
 *
 *   -DBITS=1 or 2    bits per key and link      -DTHREADS=n      insertions of the one key
 *   -DLINKS=2 to 4   links in the end           -DINTERFERENCE   other keys set any bit at any time
 *
 * Checked: no more than one insertion returns true; without interference exactly one does; when
 * one returns, a published link has the whole key.
 *
 * Each of these breaks the protocol, and Spin has to find it out:
 *
 *   -DANY_CHANGE     within a link, new if any of the bits was clear when it was set
 *   -DNO_REREAD      the winner in a link does not read `head` again
 *   -DEARLY_REREAD   the winner reads `head` again before it sets bits
 *   -DEARLY_CHECK    the older links are read before `head` is read for the first time
 *   -DEARLY_BETWEEN  the links that came up meanwhile are read before `head` is read again
 *   -DRECHECK        after growth, links that did not have the key are checked once more
 *
 * The three early ones are what the single order S of the seq_cst operations forbids.
 */

#ifndef BITS
#define BITS 2
#endif
#ifndef LINKS
#define LINKS 3
#endif
#ifndef THREADS
#define THREADS 3
#endif

#define FULL ((1 << BITS) - 1)
#define BELOW(i) ((1 << (i)) - 1)
#define HAS(set, i) (((set) >> (i)) & 1)
#define LAST(set) (HAS(set, 1) -> 2 : HAS(set, 0))
#define AT(link, i) ((link) * BITS + (i))
#define FROM_TO(from, to) (BELOW(AT((to) + 1, 0)) & ~BELOW(AT(from, 0)))

#ifdef ANY_CHANGE
#define DECIDERS missing
#else
#define DECIDERS LAST(missing)
#endif

#ifdef EARLY_CHECK
#define LOADED(link) seen[link]
#elif defined(EARLY_BETWEEN)
#define LOADED(link) (written -> seen[link] : bits[link])
#else
#define LOADED(link) bits[link]
#endif

#if defined(EARLY_CHECK) || defined(EARLY_BETWEEN)
#define LOAD_EARLY                                                                          \
  atomic {                                                                                  \
    for (i : 0 .. LINKS - 1) {                                                              \
      seen[i] = bits[i]                                                                     \
    }                                                                                       \
    i = 0                                                                                   \
  }
#endif

#ifdef EARLY_REREAD
#define READY sampled
#define HEAD_AGAIN sample
#else
#define READY true
#define HEAD_AGAIN head
#endif

byte bits[LINKS];   /* for each link, those of the key's bits that are set */
byte head;          /* the newest link */
byte news;          /* the insertions that returned true */
byte returned;      /* the insertions that returned */

/* The load of a bit in the link that is to be written. */
#define LOAD(i)                                                                             \
  atomic {                                                                                  \
    HAS(unread, AT(own, i)) ->                                                              \
    unread = unread & ~(1 << AT(own, i));                                                   \
    missing = missing | (!HAS(bits[own], i) << i);                                          \
    pending = missing                                                                       \
  }

/* The load of a bit in an older link. One missing bit shows that the key is not there. */
#define CHECK(link, i)                                                                      \
  atomic {                                                                                  \
    link < own && HAS(unread, AT(link, i)) ->                                               \
    if                                                                                      \
    :: !HAS(LOADED(link), i) -> unread = unread & ~FROM_TO(link, link)                      \
    :: else ->                                                                              \
       unread = unread & ~(1 << AT(link, i));                                               \
       if                                                                                   \
       :: !(unread & FROM_TO(link, link)) -> won = false; goto leave                        \
       :: else                                                                              \
       fi                                                                                   \
    fi                                                                                      \
  }

/* The last line forgets what cannot matter any more, which saves states. */
#define OR(i)                                                                               \
  atomic {                                                                                  \
    HAS(pending, i) && READY && !unread && !(pending & BELOW(i)) ->                         \
    pending = pending & ~(1 << i);                                                          \
    changed = (changed | (!HAS(bits[own], i) << i)) & DECIDERS;                             \
    bits[own] = bits[own] | (1 << i);                                                       \
    missing = missing & (pending | DECIDERS)                                                \
  }

proctype Insert() {
  byte own;             /* the newest link when `head` was last read, and the one to write */
  byte unread;          /* bits that are not loaded yet, numbered through all links */
  byte missing = 0;     /* bits of the link `own` that were clear when they were loaded */
  byte pending = 0;     /* those of them that are still to be set */
  byte changed = 0;     /* the decider, if it was clear when it was set */
  bool won = false;
#if defined(EARLY_BETWEEN) || defined(RECHECK)
  byte written = 0;     /* the bits of the links that this insertion wrote */
#endif
#ifdef EARLY_REREAD
  byte sample = 0;
  bool sampled = false;
#endif
#if defined(EARLY_CHECK) || defined(EARLY_BETWEEN)
  byte seen[LINKS];
  byte i = 0;
#endif

#ifdef EARLY_CHECK
  LOAD_EARLY;
#endif
  atomic {
    own = head;
    unread = FROM_TO(0, own)
  }
again:
  do
  :: LOAD(0)
  :: OR(0)
  :: CHECK(0, 0)
#if BITS == 2
  :: LOAD(1)
  :: OR(1)
  :: CHECK(0, 1)
#endif
#if LINKS > 2
  :: CHECK(1, 0)
#if BITS == 2
  :: CHECK(1, 1)
#endif
#endif
#if LINKS > 3
  :: CHECK(2, 0)
#if BITS == 2
  :: CHECK(2, 1)
#endif
#endif
#ifdef EARLY_REREAD
  :: atomic { pending && !unread && !sampled -> sample = head; sampled = true }
#endif
  :: atomic {
       !unread && !pending ->
       won = (changed & DECIDERS) != 0;
       missing = 0;
       changed = 0;
       if
       :: won -> break
       :: else -> goto leave
       fi
     }
  od;
#ifndef NO_REREAD
#ifdef EARLY_BETWEEN
  LOAD_EARLY;
#endif
  atomic {
    if
    :: HEAD_AGAIN == own -> goto leave
    :: else
    fi;
#if defined(EARLY_BETWEEN) || defined(RECHECK)
    written = written | FROM_TO(own, own);
#endif
#ifdef RECHECK
    unread = FROM_TO(0, head) & ~written;
#else
    unread = FROM_TO(own + 1, HEAD_AGAIN);
#endif
    own = HEAD_AGAIN;
#ifdef EARLY_REREAD
    sampled = false;
#endif
    goto again
  };
#endif
leave:
  atomic {
    assert(bits[0] == FULL || (head >= 1 && bits[1] == FULL)
#if LINKS > 2
           || (head >= 2 && bits[2] == FULL)
#endif
#if LINKS > 3
           || (head >= 3 && bits[3] == FULL)
#endif
    );
    news = news + won;
    returned++;
    assert(news <= 1);
#ifndef INTERFERENCE
    assert(returned < THREADS || news == 1);
#endif
    own = 0;
    unread = 0;
    missing = 0;
    pending = 0;
    won = false
  }
}

/* Whoever it is that finds the newest link full. */
proctype Grow() {
end:
  do
  :: head < LINKS - 1 -> head++
  od
}

#ifdef INTERFERENCE
#define SET(link, i)                                                                        \
  atomic { link <= head && !HAS(bits[link], i) -> bits[link] = bits[link] | (1 << i) }

/* Other keys and merge: every bit of a published link may be set at every moment, or never. */
proctype Interfere() {
end:
  do
  :: SET(0, 0)
  :: SET(1, 0)
#if BITS == 2
  :: SET(0, 1)
  :: SET(1, 1)
#endif
#if LINKS > 2
  :: SET(2, 0)
#if BITS == 2
  :: SET(2, 1)
#endif
#endif
#if LINKS > 3
  :: SET(3, 0)
#if BITS == 2
  :: SET(3, 1)
#endif
#endif
  od
}
#endif

init {
  byte i;
  atomic {
    run Grow();
#ifdef INTERFERENCE
    run Interfere();
#endif
    for (i : 1 .. THREADS) {
      run Insert()
    }
  }
}
