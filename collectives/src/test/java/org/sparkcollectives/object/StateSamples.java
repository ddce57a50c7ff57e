package org.sparkcollectives.object;

import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.Queue;
import java.util.SimpleTimeZone;
import java.util.SortedSet;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import java.util.regex.Pattern;

/** Objects with state beside what Kryo looks at: the JDK's collections and others, and users'. */
public final class StateSamples {

  private StateSamples() {}

  /** Returns the samples; their behaviour is tried once on each copy, and once on the original. */
  public static List<ObjectSample> all() {
    List<ObjectSample> samples = new ArrayList<>();
    samples.addAll(queues());
    samples.addAll(collections());
    samples.addAll(maps());
    samples.addAll(values());
    samples.addAll(UserSamples.all());
    samples.addAll(CustomSamples.all());
    return samples;
  }

  private static List<ObjectSample> queues() {
    Comparator<Integer> reverse = Comparator.reverseOrder();
    PriorityQueue<Integer> lambda =
        new PriorityQueue<>((Comparator<Integer> & Serializable) (a, b) -> b - a);
    return List.of(
        queue("PriorityQueue", new PriorityQueue<>(reverse)),
        queue("PriorityQueue with a lambda", lambda),
        queue("PriorityBlockingQueue", new PriorityBlockingQueue<>(5, reverse)),
        bounded("ArrayBlockingQueue", new ArrayBlockingQueue<>(3)),
        bounded("LinkedBlockingQueue", new LinkedBlockingQueue<>(3)),
        bounded("LinkedBlockingDeque", new LinkedBlockingDeque<>(3)));
  }

  static ObjectSample queue(String name, Queue<Integer> queue) {
    queue.addAll(List.of(2, 3, 1));
    return ObjectSample.of(name, queue, StateSamples::polls);
  }

  private static Object polls(Queue<Integer> queue) {
    queue.add(4);
    List<Object> polled = new ArrayList<>(List.of(queue.getClass()));
    while (!queue.isEmpty()) {
      polled.add(queue.poll());
    }
    return polled;
  }

  private static ObjectSample bounded(String name, BlockingQueue<Integer> queue) {
    queue.addAll(List.of(2, 3));
    return ObjectSample.of(
        name,
        queue,
        (BlockingQueue<Integer> copy) ->
            List.of(copy.remainingCapacity(), copy.offer(4), copy.offer(5), List.copyOf(copy)));
  }

  private static List<ObjectSample> collections() {
    List<Integer> list = new ArrayList<>(List.of(2, 3, 1));
    return List.of(
        filled("ArrayList", new ArrayList<>()),
        filled("ArrayDeque", new ArrayDeque<>()),
        filled("HashSet", new HashSet<>()),
        filled("LinkedHashSet", new LinkedHashSet<>()),
        filled("TreeSet", new TreeSet<>()),
        filled("TreeSet in reverse", new TreeSet<>(Comparator.reverseOrder())),
        filled("TreeSet, a view of one", new TreeSet<>(List.of(1, 5, 9)).tailSet(2)),
        filled("ConcurrentSkipListSet", new ConcurrentSkipListSet<>(Comparator.reverseOrder())),
        filled("CopyOnWriteArraySet", new CopyOnWriteArraySet<>()),
        filled("a set of a map", Collections.newSetFromMap(new LinkedHashMap<>())),
        filled("a synchronized list", Collections.synchronizedList(new ArrayList<>())),
        filled("a checked list", Collections.checkedList(new ArrayList<>(), Integer.class)),
        filled("a concurrent key set", ConcurrentHashMap.newKeySet()),
        fixed("an unmodifiable list", Collections.unmodifiableList(list)),
        fixed("an unmodifiable set", Collections.unmodifiableSet(new LinkedHashSet<>(list))),
        fixed("an unmodifiable sorted set", Collections.unmodifiableSortedSet(reversed())),
        fixed("nCopies", Collections.nCopies(4, "x")),
        fixed("asList", Arrays.asList(1, null, 2)),
        fixed("List.of", List.of(1, 2, 3)),
        ObjectSample.of("a part of List.of", List.of(1, 2, 3).subList(1, 3), List::toString),
        fixed("an empty list", Collections.emptyList()),
        fixed("an empty sorted set", Collections.emptySortedSet()),
        fixed("singletonList", Collections.singletonList(1)));
  }

  private static SortedSet<Integer> reversed() {
    SortedSet<Integer> set = new TreeSet<>(Comparator.reverseOrder());
    set.addAll(List.of(1, 2, 3));
    return set;
  }

  private static ObjectSample filled(String name, Collection<Integer> collection) {
    collection.addAll(List.of(12, 13, 11));
    return ObjectSample.of(
        name,
        collection,
        (Collection<Integer> copy) -> {
          copy.add(14);
          copy.remove(12);
          return List.of(copy.getClass(), List.copyOf(copy));
        });
  }

  private static ObjectSample fixed(String name, Collection<?> collection) {
    return ObjectSample.of(
        name,
        collection,
        (Collection<?> copy) -> List.of(copy.getClass(), new ArrayList<>(copy), refuses(copy)));
  }

  private static boolean refuses(Collection<?> collection) {
    try {
      collection.clear();
      return false;
    } catch (UnsupportedOperationException e) {
      return true;
    }
  }

  private static List<ObjectSample> maps() {
    IdentityHashMap<Object, Integer> identities = new IdentityHashMap<>();
    identities.put(new String("k"), 1);
    identities.put(new String("k"), 2);
    EnumMap<TimeUnit, String> units = new EnumMap<>(TimeUnit.class);
    units.put(TimeUnit.HOURS, "h");
    Properties properties = new Properties();
    properties.setProperty("of the defaults", "1");
    return List.of(
        map("HashMap", new HashMap<>()),
        map("LinkedHashMap", new LinkedHashMap<>()),
        map("LinkedHashMap in the order of access", new LinkedHashMap<>(8, 0.75f, true)),
        map("TreeMap", new TreeMap<>(Comparator.reverseOrder())),
        map("a view of a TreeMap", new TreeMap<>(Map.of("x", 1)).descendingMap()),
        map("ConcurrentHashMap", new ConcurrentHashMap<>()),
        map("ConcurrentSkipListMap", new ConcurrentSkipListMap<>(Comparator.reverseOrder())),
        map("a synchronized map", Collections.synchronizedMap(new LinkedHashMap<>())),
        ObjectSample.of(
            "an empty EnumMap",
            new EnumMap<TimeUnit, String>(TimeUnit.class),
            (EnumMap<TimeUnit, String> copy) -> copy.put(TimeUnit.DAYS, "d") + copy),
        ObjectSample.of(
            "EnumMap",
            units,
            (EnumMap<TimeUnit, String> copy) -> copy.put(TimeUnit.DAYS, "d") + copy),
        ObjectSample.of("IdentityHashMap", identities, (IdentityHashMap<?, ?> copy) -> copy.size()),
        ObjectSample.of(
            "Properties with defaults",
            new Properties(properties),
            (Properties copy) -> copy.getProperty("of the defaults")));
  }

  private static ObjectSample map(String name, Map<String, Integer> map) {
    map.put("a", 1);
    map.put("c", 3);
    map.put("b", 2);
    return ObjectSample.of(
        name,
        map,
        (Map<String, Integer> copy) -> {
          copy.get("a");
          copy.put("d", 4);
          return copy.getClass() + " " + copy;
        });
  }

  private static List<ObjectSample> values() {
    LongAdder adder = new LongAdder();
    adder.add(4);
    ByteBuffer direct = ByteBuffer.allocateDirect(16).order(ByteOrder.LITTLE_ENDIAN);
    direct.putInt(7).putInt(8).flip().getInt();
    ZonedDateTime second =
        ZonedDateTime.of(LocalDateTime.of(2024, 10, 27, 2, 30), ZoneId.of("Europe/Berlin"))
            .withLaterOffsetAtOverlap();
    int captured = 5;
    IntSupplier local =
        new IntSupplier() {
          @Override
          public int getAsInt() {
            return captured;
          }
        };
    return List.of(
        ObjectSample.of("LongAdder", adder, (LongAdder copy) -> List.of(copy.sum())),
        ObjectSample.of(
            "a list of LongAdders", List.of(adder, adder), (List<?> copy) -> copy.toString()),
        ObjectSample.of(
            "an address", InetAddress.getLoopbackAddress(), (InetAddress copy) -> copy.toString()),
        ObjectSample.of(
            "an address that is not resolved",
            InetSocketAddress.createUnresolved("worker.example", 7077),
            (InetSocketAddress copy) -> copy.isUnresolved() + copy.toString()),
        ObjectSample.of("Optional", Optional.of("x"), Object::toString),
        ObjectSample.of("an empty Optional", Optional.empty(), Object::toString),
        ObjectSample.of("OptionalInt", OptionalInt.of(7), Object::toString),
        ObjectSample.of("OptionalLong", OptionalLong.of(7), Object::toString),
        ObjectSample.of("OptionalDouble", OptionalDouble.of(7), Object::toString),
        ObjectSample.of("Pattern", Pattern.compile("a", Pattern.CASE_INSENSITIVE), Pattern::flags),
        ObjectSample.of("Locale", Locale.forLanguageTag("zh-Hans-CN"), Locale::toLanguageTag),
        ObjectSample.of(
            "TimeZone", (TimeZone) new SimpleTimeZone(1234, "Own"), TimeZone::getRawOffset),
        ObjectSample.of("the second 02:30 of a night", second, ZonedDateTime::toInstant),
        ObjectSample.of(
            "java.sql.Timestamp",
            java.sql.Timestamp.valueOf("2024-01-02 03:04:05.123456789"),
            Object::toString),
        ObjectSample.of("a direct buffer", direct, StateSamples::describe),
        ObjectSample.of(
            "a buffer", ByteBuffer.wrap(new byte[] {1, 2, 3}, 1, 1), StateSamples::describe),
        ObjectSample.of("an anonymous class", local, IntSupplier::getAsInt),
        ObjectSample.of("a dynamic proxy", proxy(), IntSupplier::getAsInt));
  }

  private static IntSupplier proxy() {
    return (IntSupplier)
        Proxy.newProxyInstance(
            StateSamples.class.getClassLoader(),
            new Class<?>[] {IntSupplier.class},
            (InvocationHandler & Serializable) (self, method, arguments) -> 9);
  }

  private static Object describe(ByteBuffer buffer) {
    return List.of(
        buffer.isDirect(),
        buffer.order(),
        buffer.position(),
        buffer.limit(),
        buffer.capacity(),
        buffer.duplicate().clear().compareTo(ByteBuffer.allocate(0)),
        buffer.duplicate().hashCode());
  }
}
