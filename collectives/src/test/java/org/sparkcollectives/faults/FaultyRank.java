package org.sparkcollectives.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.util.Iterator;

/**
 * A process that is a rank of one group after the other, to one of whose ranks something happens in
 * each case. It does what its input says, and prints a line for each step:
 *
 * <pre>
 *   case SEED NUMBER RANK STORE STORE-PORT ADDRESS HOST PORT
 *                                                it takes part in a case, and prints
 *                  ready                         that it is about to begin with the phase
 *   go             fault                         when it causes the fault itself
 *                  ended OUTCOME                 how its operation ended, see {@link Outcome}
 *                  shrunk                        that it has reduced in what is left of the group
 *                  closed                        that it has closed all, or why it could not
 *                  left                          what is still there of the library: nothing
 *   next RANK SIZE STORE STORE-PORT ADDRESS NAME it joins another group, and prints
 *                  reduced                       that it has reduced in it
 * </pre>
 */
final class FaultyRank {

  private FaultyRank() {}

  /** Runs the process until its input ends. Argument: the folder in which shared memory is made. */
  public static void main(String[] arguments) throws IOException {
    String folder = arguments[0];
    Remains remains = new Remains(folder);
    Iterator<String> commands =
        new BufferedReader(new InputStreamReader(System.in, UTF_8)).lines().iterator();
    System.out.println("started");
    while (commands.hasNext()) {
      String[] words = commands.next().split(" ", -1);
      int[] numbers = new int[words.length];
      for (int i = 0; i < words.length; i++) {
        numbers[i] = words[i].matches("\\d{1,9}") ? Integer.parseInt(words[i]) : -1;
      }
      if (words[0].equals("case")) {
        FaultCase fault = FaultCase.of(Long.parseLong(words[1]), numbers[2]);
        new RankOfCase(
                fault,
                numbers[3],
                new InetSocketAddress(words[4], numbers[5]),
                FaultSettings.context(folder, words[6], words[7], numbers[8]),
                () -> {
                  System.out.println("ready");
                  commands.next();
                })
            .run();
      } else {
        RankOfCase.meetAgain(
            numbers[1],
            numbers[2],
            new InetSocketAddress(words[3], numbers[4]),
            words[6],
            FaultSettings.context(folder, words[5], "", 0));
      }
      System.out.println("left\t" + String.join("; ", remains.await()));
    }
  }
}
