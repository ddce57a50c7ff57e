package org.sparkcollectives.object;

import java.io.Serializable;
import java.math.BigDecimal;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Objects of classes that users write: subclasses of the JDK's, and some with state of their own.
 */
public final class UserSamples {

  /** An element of no serializable class. */
  static final class Element {
    private final int value;

    Element(int value) {
      this.value = value;
    }

    @Override
    public String toString() {
      return "#" + value;
    }
  }

  /** A list with a field. */
  static final class Bag<T> extends ArrayList<T> {
    private static final long serialVersionUID = 1;
    private final String label;

    Bag(String label) {
      this.label = label;
    }

    Bag() {
      this("none");
    }
  }

  /** A list whose constructor adds to it. */
  static final class Prefilled extends ArrayList<String> {
    private static final long serialVersionUID = 1;

    Prefilled() {
      add("from the constructor");
    }
  }

  /** A map with a default, and a constructor without parameters. */
  static final class Counts extends HashMap<String, Integer> {
    private static final long serialVersionUID = 1;
    private int otherwise;

    int count(String key) {
      return getOrDefault(key, otherwise);
    }
  }

  /** A map that keeps few entries. */
  static final class Recent extends LinkedHashMap<String, Integer> {
    private static final long serialVersionUID = 1;
    private final int most;

    Recent(int most) {
      super(16, 0.75f, true);
      this.most = most;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) {
      return size() > most;
    }
  }

  /** A sorted map with a field. */
  static final class Index extends TreeMap<String, Integer> {
    private static final long serialVersionUID = 1;
    private final String title;

    Index(String title) {
      super(Comparator.reverseOrder());
      this.title = title;
    }
  }

  /** A sorted set with a field. */
  static final class Levels extends TreeSet<Integer> {
    private static final long serialVersionUID = 1;
    private int lowest;

    Levels(Comparator<Integer> order) {
      super(order);
    }
  }

  /** A queue with a comparator and a bound. */
  static final class Best extends PriorityQueue<Integer> {
    private static final long serialVersionUID = 1;
    private final int most;

    Best(int most) {
      super(Comparator.reverseOrder());
      this.most = most;
    }
  }

  /** A date with a field. */
  @SuppressWarnings("JavaUtilDate")
  static final class Named extends Date {
    private static final long serialVersionUID = 1;
    private final String name;

    Named(long time, String name) {
      super(time);
      this.name = name;
    }
  }

  /** A number with a field. */
  static final class Money extends BigDecimal {
    private static final long serialVersionUID = 1;
    private final String currency;

    Money(String amount, String currency) {
      super(amount);
      this.currency = currency;
    }
  }

  /** An exception with a field. */
  static final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final int code;

    Refusal(String message, int code) {
      super(message);
      this.code = code;
    }
  }

  /** A list of the user's own, of which no class is the JDK's. */
  static final class Pair implements Iterable<Integer> {
    private final int first;
    private final int second;

    Pair(int first, int second) {
      this.first = first;
      this.second = second;
    }

    @Override
    public Iterator<Integer> iterator() {
      return List.of(first, second).iterator();
    }
  }

  /** A list that the JDK's abstract class makes of two methods. */
  static final class Squares extends AbstractList<Integer> implements Serializable {
    private static final long serialVersionUID = 1;
    private final int count;

    Squares(int count) {
      this.count = count;
    }

    @Override
    public Integer get(int index) {
      return index * index;
    }

    @Override
    public int size() {
      return count;
    }
  }

  /** An object that is in a queue that it has. */
  static final class Worker implements Comparable<Worker> {
    private final int priority;
    private PriorityQueue<Worker> queue;

    Worker(int priority) {
      this.priority = priority;
    }

    @Override
    public int compareTo(Worker other) {
      return Integer.compare(priority, other.priority);
    }
  }

  /** An object that is in a set and in a sorted map that it has, whose names come before its id. */
  static final class Node implements Comparable<Node> {
    private final Set<Node> around = new HashSet<>();
    private final NavigableMap<Node, String> costs = new TreeMap<>();
    private final int id;

    Node(int id) {
      this.id = id;
    }

    @Override
    public int hashCode() {
      return id;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Node node && node.id == id;
    }

    @Override
    public int compareTo(Node other) {
      return Integer.compare(id, other.id);
    }
  }

  private UserSamples() {}

  static List<ObjectSample> all() {
    Bag<Object> bag = new Bag<>("fruit");
    bag.add("apple");
    Bag<Object> ofElements = new Bag<>("elements");
    Element element = new Element(1);
    ofElements.addAll(List.of(element, element));
    Counts counts = new Counts();
    counts.otherwise = 7;
    counts.put("a", 1);
    Recent recent = new Recent(2);
    recent.put("a", 1);
    recent.put("b", 2);
    Index index = new Index("words");
    index.putAll(Map.of("a", 1, "b", 2));
    Levels levels = new Levels(Comparator.reverseOrder());
    levels.lowest = -1;
    levels.addAll(List.of(1, 2));
    Worker worker = new Worker(1);
    worker.queue = new PriorityQueue<>(List.of(worker, new Worker(2)));
    Node node = new Node(5);
    for (Node each : List.of(node, new Node(3), new Node(9))) {
      node.around.add(each);
      node.costs.put(each, "cost " + each.id);
    }
    return List.of(
        ObjectSample.of(
            "an object in its own set and map",
            node,
            copy ->
                List.of(
                    copy.around.contains(copy),
                    copy.costs.get(copy),
                    copy.costs.firstKey().id,
                    copy.costs.lastKey().id)),
        ObjectSample.of("a list with a field", bag, copy -> copy.label + copy),
        ObjectSample.of(
            "a list of what is not serializable",
            ofElements,
            copy -> copy.label + copy + (copy.get(0) == copy.get(1))),
        ObjectSample.of(
            "an element in such a list and beside it",
            List.of(ofElements, element),
            (List<?> copy) -> ((List<?>) copy.get(0)).get(0) == copy.get(1)),
        ObjectSample.of("a list that its constructor fills", new Prefilled(), List::copyOf),
        ObjectSample.of(
            "a list that its initializer fills",
            initialized(),
            (Collection<?> copy) -> List.copyOf(copy)),
        ObjectSample.of("a map with a field", counts, copy -> copy.count("x") + "" + copy),
        ObjectSample.of(
            "a map that keeps few",
            recent,
            copy -> {
              copy.get("a");
              copy.put("c", 3);
              return copy.keySet().toString();
            }),
        ObjectSample.of("a sorted map with a field", index, copy -> copy.title + copy),
        ObjectSample.of("a sorted set with a field", levels, copy -> copy.lowest + "" + copy),
        StateSamples.queue("a queue with a comparator", new Best(10)),
        ObjectSample.of("the queue's field", new Best(10), copy -> copy.most),
        ObjectSample.of(
            "a date with a field", new Named(5, "x"), copy -> copy.name + copy.getTime()),
        ObjectSample.of("a number with a field", new Money("1.10", "EUR"), c -> c.currency + c),
        ObjectSample.of(
            "an exception with a field",
            new Refusal("no", 7),
            copy -> copy.code + copy.getMessage() + copy.getStackTrace().length),
        ObjectSample.of("an iterable", new Pair(1, 2), copy -> copy.first + "," + copy.second),
        ObjectSample.of("a list of two methods", new Squares(4), List::copyOf),
        ObjectSample.of(
            "an object in its own queue",
            worker,
            copy -> (copy.queue.poll() == copy) + "" + copy.queue.size()));
  }

  private static List<String> initialized() {
    return new ArrayList<>() {
      private static final long serialVersionUID = 1;

      {
        add("from the initializer");
      }
    };
  }
}
