package org.sparkcollectives.internal.algorithm;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import org.sparkcollectives.internal.transport.Locality;

/**
 * A network of hosts on which simulated ranks take time, by LogGP (Alexandrov et al., 1995). Each
 * host has one interface: what its ranks send to other hosts leaves one message after the other,
 * and so arrives what is sent to them. Messages between many ranks at the same time slow each other
 * down, as in {@link CostModel}. Inside a host each rank has a processor and a path of its own.
 * Hosts may be in racks, each of which has an uplink and a downlink.
 *
 * @param hosts the ranks on each host
 * @param racks the ranks in each rack
 * @param across the links between racks, with the bandwidth that each host adds to the uplink
 * @param between the links between hosts
 * @param inside the paths inside a host
 * @param heap the seconds of a wait for all ranks of a JVM
 * @param heapBandwidth the bytes a second that a rank moves in the memory of its JVM
 */
record SimulatedNetwork(
    Locality hosts,
    Locality racks,
    LogGp across,
    LogGp between,
    LogGp inside,
    double heap,
    double heapBandwidth) {

  /**
   * The part of the time for a byte that each other message adds to it that has been begun before
   * and is on its way, both from the same sender and to the same receiver: if all ranks exchange
   * messages with several at once, a quarter of the time of all for each further one, as in {@link
   * CostModel}.
   */
  private static final double CONTENTION = 0.5;

  /**
   * A link.
   *
   * @param latency the seconds from the end of a send to the begin of its receive
   * @param overhead the seconds for which the sender and the receiver are each busy with a message
   * @param gap the least seconds between two messages
   * @param bandwidth bytes a second, each way
   */
  record LogGp(double latency, double overhead, double gap, double bandwidth) {

    /** Returns the link of which a model has the figures. */
    static LogGp of(CostModel model) {
      double overhead = Math.min(model.overhead(), model.latency() / 2);
      return new LogGp(model.latency() - 2 * overhead, overhead, overhead / 2, model.bandwidth());
    }

    double seconds(long bytes, double slowdown) {
      return Math.max(gap, bytes / bandwidth * slowdown);
    }
  }

  /** Creates a network of hosts of one rack. */
  SimulatedNetwork(Locality hosts, LogGp between, LogGp inside, double heap, double heapBandwidth) {
    this(hosts, oneRack(hosts), between, between, inside, heap, heapBandwidth);
  }

  private static Locality oneRack(Locality hosts) {
    return Locality.of(Collections.nCopies(hosts.size(), "rack"));
  }

  /** Ranks on hosts, whose links have the figures of the model. */
  static SimulatedNetwork of(PathCosts costs, Locality hosts) {
    return of(costs, hosts, oneRack(hosts));
  }

  /** Ranks on hosts in racks, whose links have the figures of the model. */
  static SimulatedNetwork of(PathCosts costs, Locality hosts, Locality racks) {
    return new SimulatedNetwork(
        hosts,
        racks,
        LogGp.of(costs.racks()),
        LogGp.of(costs.network()),
        LogGp.of(costs.host()),
        costs.jvm().latency(),
        costs.jvm().bandwidth());
  }

  /** Returns the seconds until the last rank is done. */
  double seconds(Consumer<SimulatedRank> algorithm) {
    List<SimulatedRank> ranks = new ArrayList<>();
    for (int rank = 0; rank < hosts.size(); rank++) {
      SimulatedRank each = new SimulatedRank(rank, hosts.size());
      algorithm.accept(each);
      ranks.add(each);
    }
    return seconds(ranks);
  }

  /** Returns the seconds until the last of these ranks has done what it has recorded. */
  double seconds(List<SimulatedRank> ranks) {
    return new Replay(ranks).seconds();
  }

  /** A direction of an interface, which passes one message after the other. */
  private static final class Interface {
    private double free;

    /** Passes a message through, and returns when its last byte is through. */
    double pass(double from, double seconds) {
      free = Math.max(free, from) + seconds;
      return free;
    }
  }

  /** The messages on their way from a rank, or to it. */
  private static final class UnderWay {
    private record Message(int peer, double end) {}

    private final Deque<Message> messages = new ArrayDeque<>();

    void add(int peer, double end) {
      messages.addLast(new Message(peer, end));
    }

    /** Returns how many there are of other peers. */
    int others(int peer, double now) {
      while (!messages.isEmpty() && messages.peekFirst().end <= now) {
        messages.removeFirst();
      }
      int others = 0;
      for (Message each : messages) {
        others += each.peer == peer ? 0 : 1;
      }
      return others;
    }
  }

  /** The recorded steps of all ranks, in the order of time. */
  private final class Replay {
    private final List<SimulatedRank> ranks;
    private final double[] clocks;
    private final int[] next;
    private final Interface[] out;
    private final Interface[] in;
    private final Interface[] outOfRack;
    private final Interface[] intoRack;

    /** When what a rank has begun to send has left. */
    private final double[] sent;

    private final PriorityQueue<Ready> ready = new PriorityQueue<>();
    private int passages;
    private final boolean[] isReady;
    private final UnderWay[] leaving;
    private final UnderWay[] arriving;

    private final Map<Long, Deque<Double>> arrivals = new HashMap<>();
    private final Map<Long, Double> sentTo = new HashMap<>();

    /** The ranks of a JVM that wait for its other ranks. */
    private final Map<Integer, List<Integer>> waiting = new HashMap<>();

    Replay(List<SimulatedRank> ranks) {
      this.ranks = ranks;
      int n = ranks.size();
      clocks = new double[n];
      next = new int[n];
      sent = new double[n];
      isReady = new boolean[n];
      leaving = new UnderWay[n];
      arriving = new UnderWay[n];
      Arrays.setAll(leaving, each -> new UnderWay());
      Arrays.setAll(arriving, each -> new UnderWay());
      out = new Interface[hosts.nodes()];
      in = new Interface[hosts.nodes()];
      outOfRack = new Interface[racks.nodes()];
      intoRack = new Interface[racks.nodes()];
      for (Interface[] each : List.of(out, in, outOfRack, intoRack)) {
        Arrays.setAll(each, index -> new Interface());
      }
    }

    double seconds() {
      for (SimulatedRank each : ranks) {
        goOn(each.rank());
      }
      while (!ready.isEmpty()) {
        Ready first = ready.remove();
        if (first.passage != null) {
          first.passage.run();
          continue;
        }
        int rank = first.rank;
        isReady[rank] = false;
        if (next[rank] < ranks.get(rank).length()) {
          step(rank);
        }
      }
      for (SimulatedRank each : ranks) {
        if (next[each.rank()] < each.length()) {
          throw new AssertionError("rank " + each.rank() + " waits in vain");
        }
      }
      double last = 0;
      for (int rank = 0; rank < clocks.length; rank++) {
        last = Math.max(last, Math.max(clocks[rank], sent[rank]));
      }
      return last;
    }

    private void goOn(int rank) {
      if (!isReady[rank]) {
        isReady[rank] = true;
        ready.add(new Ready(clocks[rank], rank, null));
      }
    }

    private void step(int rank) {
      SimulatedRank each = ranks.get(rank);
      int index = next[rank];
      switch (each.kind(index)) {
        case SEND -> {
          int peer = each.peer(index);
          send(rank, peer, each.bytes(index));
          next[rank]++;
        }
        case RECEIVE -> {
          int peer = each.peer(index);
          Deque<Double> way = arrivals.get(way(peer, rank));
          if (way == null || way.isEmpty()) {
            return; // The send of the peer goes on with this rank.
          }
          clocks[rank] = Math.max(clocks[rank], way.removeFirst()) + link(peer, rank).overhead();
          next[rank]++;
        }
        case FLUSH -> {
          clocks[rank] = Math.max(clocks[rank], sent[rank]);
          next[rank]++;
        }
        case MOVE -> {
          clocks[rank] += each.bytes(index) / heapBandwidth;
          next[rank]++;
        }
        case WAIT -> {
          meet(rank, each);
          return;
        }
      }
      goOn(rank);
    }

    private void send(int rank, int peer, long bytes) {
      LogGp link = link(rank, peer);
      long way = way(rank, peer);
      double begin = Math.max(clocks[rank], sentTo.getOrDefault(way, 0.0)) + link.overhead();
      clocks[rank] = begin;
      int others = Math.min(leaving[rank].others(peer, begin), arriving[peer].others(rank, begin));
      double seconds = link.seconds(bytes, 1 + CONTENTION * others);
      int from = hosts.node(rank);
      int to = hosts.node(peer);
      double left;
      double arrived;
      if (from == to) {
        // The sender's processor copies.
        left = Math.max(begin, sent[rank]) + seconds;
        arrived = left + link.latency();
      } else {
        left = out[from].pass(begin, seconds);
        if (racks.node(rank) != racks.node(peer)) {
          leaveRack(rank, peer, left - seconds, seconds, bytes);
          arrived = Double.NaN;
        } else {
          arrived = in[to].pass(left - seconds + link.latency(), seconds);
        }
      }
      leaving[rank].add(peer, left);
      sentTo.put(way, left);
      sent[rank] = Math.max(sent[rank], left);
      if (!Double.isNaN(arrived)) {
        arrive(rank, peer, arrived);
      }
    }

    private void arrive(int rank, int peer, double arrived) {
      arriving[peer].add(rank, arrived);
      arrivals.computeIfAbsent(way(rank, peer), each -> new ArrayDeque<>()).addLast(arrived);
      if (isWaitingFor(peer, rank)) {
        goOn(peer);
      }
    }

    /**
     * Passes a message through the uplink of a rack, into another, and to a host there, each as
     * soon as the first byte is there: others that come meanwhile go before.
     */
    private void leaveRack(int rank, int peer, double from, double seconds, long bytes) {
      double bandwidth = across.bandwidth();
      double up = bytes / (bandwidth * racks.sizeOf(racks.node(rank)));
      double down = bytes / (bandwidth * racks.sizeOf(racks.node(peer)));
      at(
          from,
          () -> {
            double first = Math.max(from, outOfRack[racks.node(rank)].pass(from, up) - down);
            at(
                first,
                () -> {
                  double last = intoRack[racks.node(peer)].pass(first, down);
                  double there = Math.max(first, last - seconds) + across.latency();
                  at(there, () -> arrive(rank, peer, in[hosts.node(peer)].pass(there, seconds)));
                });
          });
    }

    private void at(double clock, Runnable passage) {
      ready.add(new Ready(clock, passages, passage));
      passages++;
    }

    private boolean isWaitingFor(int receiver, int sender) {
      SimulatedRank each = ranks.get(receiver);
      int index = next[receiver];
      return index < each.length()
          && each.kind(index) == SimulatedRank.Kind.RECEIVE
          && each.peer(index) == sender
          && arrivals.get(way(sender, receiver)).size() == 1;
    }

    /** Waits for all ranks of the JVM. */
    private void meet(int rank, SimulatedRank each) {
      int[] here = each.jvm();
      List<Integer> met = waiting.computeIfAbsent(here[0], first -> new ArrayList<>());
      met.add(rank);
      if (met.size() < here.length) {
        return;
      }
      double last = 0;
      for (int other : met) {
        last = Math.max(last, clocks[other]);
      }
      for (int other : met) {
        clocks[other] = last + heap;
        next[other]++;
        goOn(other);
      }
      met.clear();
    }

    private LogGp link(int one, int other) {
      if (hosts.node(one) == hosts.node(other)) {
        return inside;
      }
      return racks.node(one) == racks.node(other) ? between : acrossRacks();
    }

    /** A host sends to other racks as fast as to its own, but later arrives what it sends. */
    private LogGp acrossRacks() {
      return new LogGp(across.latency(), between.overhead(), between.gap(), between.bandwidth());
    }

    private static long way(int from, int to) {
      return ((long) from << 32) | to;
    }
  }

  /**
   * A rank that can go on at a moment, or a message that comes to a link.
   *
   * @param rank the rank, or the number of the passage
   * @param passage of a message; null for a rank
   */
  private record Ready(double clock, int rank, Runnable passage) implements Comparable<Ready> {
    @Override
    public int compareTo(Ready other) {
      int byClock = Double.compare(clock, other.clock);
      if (byClock != 0) {
        return byClock;
      }
      int byKind = Boolean.compare(passage == null, other.passage == null);
      return byKind != 0 ? byKind : Integer.compare(rank, other.rank);
    }
  }
}
