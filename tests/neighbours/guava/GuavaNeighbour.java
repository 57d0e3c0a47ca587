// In Guava's own package, because the choice of a strategy is not public.
package com.google.common.hash;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A filter of Guava, driven by lines as ../neighbour.cpp describes them.
 *
 * <p>GuavaNeighbour 32|64 bytes|string|int|long: the strategy and the funnel. Strings are given by their
 * UTF-8 bytes, numbers as decimals behind a #.
 */
public final class GuavaNeighbour<T> {
  private final BloomFilterStrategies strategy;
  private final Funnel<? super T> funnel;
  private final Function<String, T> parse;
  private BloomFilter<T> filter;

  private GuavaNeighbour(
      BloomFilterStrategies strategy, Funnel<? super T> funnel, Function<String, T> parse) {
    this.strategy = strategy;
    this.funnel = funnel;
    this.parse = parse;
  }

  private static byte[] fromHex(String text) {
    return text.equals("-") ? new byte[0] : HexFormat.of().parseHex(text);
  }

  private BloomFilter<T> read(String text) throws IOException {
    return BloomFilter.readFrom(new ByteArrayInputStream(fromHex(text)), funnel);
  }

  private byte[] write() throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    filter.writeTo(file);
    return file.toByteArray();
  }

  /** 1 or 0 for each key, as the verb says of it. */
  private String eachKey(String[] words, Predicate<T> verb) {
    StringBuilder answers = new StringBuilder();
    for (int i = 1; i < words.length; ++i) {
      answers.append(verb.test(parse.apply(words[i])) ? '1' : '0');
    }
    return answers.toString();
  }

  /** The second byte of the file is the only public sign of the number of hashes. */
  private String size() throws IOException {
    return filter.bitSize() + " " + write()[1];
  }

  private String run(String[] words) throws IOException {
    switch (words[0]) {
      case "plan":
        filter =
            BloomFilter.create(
                funnel, Long.parseLong(words[1]), Double.parseDouble(words[2]), strategy);
        return size();
      case "read":
        filter = read(words[1]);
        return size();
      case "write":
        return HexFormat.of().formatHex(write());
      case "add":
        return eachKey(words, key -> filter.put(key));
      case "ask":
        return eachKey(words, key -> filter.mightContain(key));
      case "merge":
        filter.putAll(read(words[1]));
        return size();
      default:
        throw new IllegalArgumentException("unknown command");
    }
  }

  private void serve() throws IOException {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String answer;
      try {
        answer = run(line.trim().split(" "));
      } catch (IOException | RuntimeException failure) {
        answer = "error " + failure;
      }
      System.out.println(answer);
    }
  }

  public static void main(String[] arguments) throws IOException {
    BloomFilterStrategies strategy =
        BloomFilterStrategies.valueOf("MURMUR128_MITZ_" + arguments[0]);
    switch (arguments[1]) {
      case "bytes":
        new GuavaNeighbour<byte[]>(strategy, Funnels.byteArrayFunnel(), GuavaNeighbour::fromHex)
            .serve();
        break;
      case "string":
        new GuavaNeighbour<CharSequence>(
                strategy,
                Funnels.stringFunnel(StandardCharsets.UTF_8),
                text -> new String(fromHex(text), StandardCharsets.UTF_8))
            .serve();
        break;
      case "int":
        new GuavaNeighbour<Integer>(
                strategy, Funnels.integerFunnel(), text -> Integer.valueOf(text.substring(1)))
            .serve();
        break;
      case "long":
        new GuavaNeighbour<Long>(
                strategy, Funnels.longFunnel(), text -> Long.valueOf(text.substring(1)))
            .serve();
        break;
      default:
        throw new IllegalArgumentException("no funnel " + arguments[1]);
    }
  }
}
