import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import com.google.common.io.ByteStreams;
import com.google.common.io.CountingOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.Locale;
import java.util.Properties;

/** Guava's Bloom filter. It keeps the protocol that contender.hpp describes, with the same keys. */
public final class GuavaPeer {
  private static final double FPR = 0.01;
  private static final int QUERIES = 4_000_000;
  private static final int SMALL = 10_000_000;
  private static final long ABSENT = 1L << 50;

  /** The output function of splitmix64. */
  private static long mix(long z) {
    z += 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  private static long[] makeKeys(long first, int count) {
    long[] keys = new long[count];
    for (int i = 0; i < count; ++i) {
      keys[i] = mix(first + i);
    }
    return keys;
  }

  private final long[] keys;
  private final long[] absent = makeKeys(ABSENT, QUERIES);
  private final long[] present = new long[QUERIES];
  private final long[] mixed = new long[QUERIES];
  private BloomFilter<Long> filter;

  /** What the lookups found, for all to see: they cannot be optimised away. */
  private volatile int hits;

  private GuavaPeer(int count) {
    keys = makeKeys(0, count);
    for (int i = 0; i < QUERIES; ++i) {
      present[i] = keys[(int) Long.remainderUnsigned(mix(ABSENT - 1 - i), count)];
      mixed[i] = mix(i) % 2 == 0 ? present[i] : absent[i];
    }
  }

  private static BloomFilter<Long> create(int keys) {
    return BloomFilter.create(Funnels.longFunnel(), keys, FPR);
  }

  // Guava takes objects only. A number that is boxed at the call costs no more than one object that is
  // used again and again, with a funnel of its own.
  private static void insert(BloomFilter<Long> filter, long[] keys) {
    for (long key : keys) {
      filter.put(key);
    }
  }

  private static int count(BloomFilter<Long> filter, long[] keys) {
    int hits = 0;
    for (long key : keys) {
      if (filter.mightContain(key)) {
        ++hits;
      }
    }
    return hits;
  }

  /** Lets the compiler see both loops often, and both answers, before anything is measured. */
  private void warmUp() {
    long[] some = makeKeys(0, 100_000);
    long[] others = makeKeys(ABSENT, 100_000);
    for (int i = 0; i < 50; ++i) {
      BloomFilter<Long> small = create(some.length);
      insert(small, some);
      hits = count(small, some) + count(small, others);
    }
  }

  private static void print(String subject, String format, Object... values) {
    // "jit": the instructions are what the machine has.
    System.out.printf(
        Locale.ROOT,
        "{\"subject\": \"" + subject + "\", \"name\": \"Guava\", \"build\": \"jit\", " + format + "}%n",
        values);
  }

  private void time(String operation, int operations, Runnable run) {
    long start = System.nanoTime();
    run.run();
    double ns = (double) (System.nanoTime() - start) / operations;
    print("time", "\"keys\": %d, \"operation\": \"%s\", \"ns\": %.6g", keys.length, operation, ns);
  }

  private void fill() {
    filter = null;
    System.gc();
    filter = create(keys.length);
    time("insert", keys.length, () -> insert(filter, keys));
  }

  /** The filter does not tell its size; its serialised form has six bytes more than its bits. */
  private long sizeBytes() throws IOException {
    CountingOutputStream stream = new CountingOutputStream(ByteStreams.nullOutputStream());
    filter.writeTo(stream);
    return stream.getCount() - 6;
  }

  private static String version() throws IOException {
    String place = "/META-INF/maven/com.google.guava/guava/pom.properties";
    try (InputStream stream = BloomFilter.class.getResourceAsStream(place)) {
      Properties properties = new Properties();
      if (stream != null) {
        properties.load(stream);
      }
      return properties.getProperty("version", "unknown");
    }
  }

  private void start() throws IOException {
    print("contender", "\"version\": \"%s\"", version());
    warmUp();
    fill();
    print(
        "size",
        "\"keys\": %d, \"bits_per_key\": %.6g, \"rate\": %.6g",
        keys.length,
        8.0 * sizeBytes() / keys.length,
        (double) count(filter, absent) / QUERIES);
    if (count(filter, present) != QUERIES) {
      System.err.println("Guava lost a key");
      System.exit(1);
    }
  }

  private void round() {
    if (keys.length <= SMALL) {
      fill();
    }
    time("absent", QUERIES, () -> hits = count(filter, absent));
    time("present", QUERIES, () -> hits = count(filter, present));
    time("mixed", QUERIES, () -> hits = count(filter, mixed));
  }

  public static void main(String[] arguments) throws IOException {
    int keys = arguments.length == 1 ? Integer.parseInt(arguments[0]) : 0;
    if (keys <= 0) {
      System.err.println("usage: java GuavaPeer KEYS, then one line of input for each round");
      System.exit(2);
    }
    GuavaPeer peer = new GuavaPeer(keys);
    peer.start();
    System.out.println("{\"subject\": \"done\"}");
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    while (input.readLine() != null) {
      peer.round();
      System.out.println("{\"subject\": \"done\"}");
    }
  }
}
