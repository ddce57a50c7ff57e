package org.sparkcollectives.object;

import java.io.ByteArrayOutputStream;
import java.io.FilePermission;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.PrintWriter;
import java.io.Serializable;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.WriteAbortedException;
import java.lang.annotation.AnnotationTypeMismatchException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.MalformedURLException;
import java.net.SocketPermission;
import java.net.URI;
import java.net.URL;
import java.net.URLPermission;
import java.net.UnknownHostException;
import java.nio.charset.CoderMalfunctionError;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkPermission;
import java.nio.file.Path;
import java.security.CodeSigner;
import java.security.CodeSource;
import java.security.GuardedObject;
import java.security.KeyPair;
import java.security.PrivilegedActionException;
import java.security.SecureRandom;
import java.security.UnresolvedPermission;
import java.text.AttributedCharacterIterator;
import java.text.CompactNumberFormat;
import java.text.MessageFormat;
import java.text.NumberFormat;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.chrono.HijrahChronology;
import java.time.chrono.IsoChronology;
import java.time.chrono.JapaneseChronology;
import java.time.chrono.JapaneseEra;
import java.time.chrono.MinguoChronology;
import java.time.chrono.ThaiBuddhistChronology;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneOffsetTransitionRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Calendar;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.PropertyPermission;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.DoubleAccumulator;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.DoubleBinaryOperator;
import java.util.function.LongBinaryOperator;
import java.util.stream.Stream;

/**
 * An object of nearly each public class of {@code java.base} that is serializable. They are made by
 * a public constructor or factory method, of the values below, and compared by what Java
 * serialization makes of them.
 */
public final class PlatformSamples {

  private static final Map<Class<?>, Object> VALUES =
      Map.ofEntries(
          Map.entry(String.class, "7"),
          Map.entry(CharSequence.class, "7"),
          Map.entry(Object.class, "key"),
          Map.entry(int.class, 7),
          Map.entry(long.class, 7L),
          Map.entry(double.class, 7.5),
          Map.entry(float.class, 7.5f),
          Map.entry(boolean.class, true),
          Map.entry(char.class, 'x'),
          Map.entry(byte.class, (byte) 7),
          Map.entry(short.class, (short) 7),
          Map.entry(byte[].class, new byte[] {10, 0, 0, 7}),
          Map.entry(Throwable.class, new IllegalStateException("cause")),
          Map.entry(Comparator.class, Comparator.reverseOrder()),
          Map.entry(Class.class, TimeUnit.class),
          Map.entry(Locale.class, Locale.forLanguageTag("th-TH-u-nu-thai")),
          Map.entry(TimeZone.class, new java.util.SimpleTimeZone(1_234_000, "Own")),
          Map.entry(ZoneId.class, ZoneId.of("Europe/Berlin")),
          Map.entry(ZoneOffset.class, ZoneOffset.ofHours(2)),
          Map.entry(LocalDate.class, LocalDate.of(2024, 10, 27)),
          Map.entry(LocalDateTime.class, LocalDateTime.of(2024, 10, 27, 2, 30)),
          Map.entry(InetAddress.class, InetAddress.getLoopbackAddress()),
          Map.entry(URI.class, URI.create("spark://host:7077")));

  /** Objects that no constructor makes of these values. */
  private static final Map<Class<?>, Object> OWN = own();

  private PlatformSamples() {}

  private static Map<Class<?>, Object> own() {
    IOException failure = new IOException("7");
    DoubleAccumulator product = new DoubleAccumulator((Product & Serializable) (a, b) -> a * b, 1);
    product.accumulate(3);
    LongAccumulator largest = new LongAccumulator((Largest & Serializable) Math::max, 1);
    largest.accumulate(3);
    ConcurrentHashMap.KeySetView<String, Boolean> keys = ConcurrentHashMap.newKeySet();
    keys.add("a");
    return Map.ofEntries(
        Map.entry(FilePermission.class, new FilePermission("/tmp/7", "read")),
        Map.entry(LinkPermission.class, new LinkPermission("hard")),
        Map.entry(URLPermission.class, new URLPermission("http://host/", "GET")),
        Map.entry(
            UnresolvedPermission.class, new UnresolvedPermission("a.Type", "7", "read", null)),
        Map.entry(CodeSource.class, new CodeSource(url("http://host/"), (CodeSigner[]) null)),
        Map.entry(GuardedObject.class, new GuardedObject("7", null)),
        Map.entry(KeyPair.class, new KeyPair(null, null)),
        Map.entry(CoderMalfunctionError.class, new CoderMalfunctionError(failure)),
        Map.entry(DirectoryIteratorException.class, new DirectoryIteratorException(failure)),
        Map.entry(
            AnnotationTypeMismatchException.class, new AnnotationTypeMismatchException(null, "7")),
        Map.entry(SocketPermission.class, new SocketPermission("127.0.0.1:7", "connect")),
        Map.entry(PropertyPermission.class, new PropertyPermission("7", "read")),
        Map.entry(UncheckedIOException.class, new UncheckedIOException("7", failure)),
        Map.entry(WriteAbortedException.class, new WriteAbortedException("7", failure)),
        Map.entry(PrivilegedActionException.class, new PrivilegedActionException(failure)),
        Map.entry(Inet4Address.class, address("worker-7", 10, 0, 0, 7)),
        Map.entry(
            Inet6Address.class,
            address("worker-7", 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7)),
        Map.entry(URL.class, url("http://10.0.0.7:80/x?y=z")),
        Map.entry(DoubleAccumulator.class, product),
        Map.entry(LongAccumulator.class, largest),
        Map.entry(ConcurrentHashMap.KeySetView.class, keys),
        Map.entry(JapaneseEra.class, JapaneseEra.HEISEI),
        Map.entry(HijrahChronology.class, HijrahChronology.INSTANCE),
        Map.entry(IsoChronology.class, IsoChronology.INSTANCE),
        Map.entry(JapaneseChronology.class, JapaneseChronology.INSTANCE),
        Map.entry(MinguoChronology.class, MinguoChronology.INSTANCE),
        Map.entry(ThaiBuddhistChronology.class, ThaiBuddhistChronology.INSTANCE),
        Map.entry(
            ZoneOffsetTransition.class,
            ZoneId.of("Europe/Berlin").getRules().nextTransition(Instant.EPOCH)),
        Map.entry(
            ZoneOffsetTransitionRule.class,
            ZoneId.of("Europe/Berlin").getRules().getTransitionRules().get(0)),
        Map.entry(
            AttributedCharacterIterator.Attribute.class,
            AttributedCharacterIterator.Attribute.LANGUAGE),
        Map.entry(NumberFormat.Field.class, NumberFormat.Field.SIGN),
        Map.entry(MessageFormat.Field.class, MessageFormat.Field.ARGUMENT),
        Map.entry(
            CompactNumberFormat.class,
            NumberFormat.getCompactNumberInstance(Locale.GERMAN, NumberFormat.Style.LONG)),
        Map.entry(ReentrantReadWriteLock.ReadLock.class, new ReentrantReadWriteLock().readLock()),
        Map.entry(ReentrantReadWriteLock.WriteLock.class, new ReentrantReadWriteLock().writeLock()),
        Map.entry(Class.class, TimeUnit.class));
  }

  private interface Product extends DoubleBinaryOperator {}

  private interface Largest extends LongBinaryOperator {}

  private static InetAddress address(String host, int... bytes) {
    byte[] address = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      address[i] = (byte) bytes[i];
    }
    try {
      return InetAddress.getByAddress(host, address);
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  private static URL url(String text) {
    try {
      return new URL(text);
    } catch (MalformedURLException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns the samples, by the name of their class. */
  public static List<ObjectSample> all() {
    List<ObjectSample> samples = new ArrayList<>();
    for (Class<?> type : classes()) {
      Object object = make(type);
      if (object != null && bytes(object) != null) {
        samples.add(new ObjectSample(type.getName(), object, PlatformSamples::state));
      }
    }
    return samples;
  }

  /** Returns the classes, those included of which no sample can be made. */
  static List<Class<?>> classes() {
    Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules", "java.base");
    try (Stream<Path> files = Files.walk(root.resolve("java"))) {
      return files
          .map(file -> root.relativize(file).toString())
          .filter(file -> file.endsWith(".class"))
          .sorted()
          .map(file -> file.substring(0, file.length() - ".class".length()).replace('/', '.'))
          .<Class<?>>map(PlatformSamples::load)
          .filter(PlatformSamples::isCandidate)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name, false, null);
    } catch (ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }

  private static boolean isCandidate(Class<?> type) {
    return Modifier.isPublic(type.getModifiers())
        && !type.isInterface()
        && !type.isHidden()
        && Serializable.class.isAssignableFrom(type);
  }

  private static Object make(Class<?> type) {
    if (type.isEnum()) {
      return type.getEnumConstants()[0];
    }
    if (OWN.containsKey(type)) {
      return OWN.get(type);
    }
    return candidates(type)
        .sorted(Comparator.comparingInt(Executable::getParameterCount).reversed())
        .map(PlatformSamples::call)
        .filter(Objects::nonNull)
        .peek(PlatformSamples::fill)
        .findFirst()
        .orElse(null);
  }

  private static Stream<Executable> candidates(Class<?> type) {
    Stream<Method> factories =
        Arrays.stream(type.getMethods())
            .filter(each -> Modifier.isStatic(each.getModifiers()))
            .filter(each -> each.getDeclaringClass() == type)
            .filter(each -> type.isAssignableFrom(each.getReturnType()))
            .sorted(Comparator.comparing(Method::toString));
    Stream<Constructor<?>> constructors =
        Modifier.isAbstract(type.getModifiers())
            ? Stream.empty()
            : Arrays.stream(type.getConstructors()).sorted(Comparator.comparing(Object::toString));
    return Stream.concat(constructors, factories);
  }

  private static Object call(Executable maker) {
    Object[] arguments = new Object[maker.getParameterCount()];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = VALUES.get(maker.getParameterTypes()[i]);
      if (arguments[i] == null) {
        return null;
      }
    }
    try {
      return maker instanceof Constructor<?> constructor
          ? constructor.newInstance(arguments)
          : ((Method) maker).invoke(null, arguments);
    } catch (ReflectiveOperationException e) {
      return null; // It takes other values than these.
    }
  }

  /** Gives an object some state that it does not have from the beginning. */
  private static void fill(Object object) {
    try {
      if (object instanceof Collection<?>) {
        asObjects(object).addAll(List.of(3, 1, 2));
      } else if (object instanceof java.util.EnumMap<?, ?>) {
        asMap(object).put(TimeUnit.DAYS, "long");
      } else if (object instanceof Map<?, ?>) {
        asMap(object).putAll(Map.of("a", 1, "b", 2));
      } else if (object instanceof java.util.concurrent.atomic.LongAdder adder) {
        adder.add(4);
      } else if (object instanceof java.util.concurrent.atomic.DoubleAdder adder) {
        adder.add(4.5);
      } else if (object instanceof java.util.BitSet bits) {
        bits.set(70);
      } else if (object instanceof Throwable error) {
        error.addSuppressed(new IllegalStateException("suppressed"));
      }
    } catch (UnsupportedOperationException
        | ClassCastException
        | IllegalStateException
        | IllegalArgumentException e) {
      // It takes other elements, fewer, or none.
    }
  }

  @SuppressWarnings("unchecked")
  private static Collection<Object> asObjects(Object object) {
    return (Collection<Object>) object;
  }

  @SuppressWarnings("unchecked")
  private static Map<Object, Object> asMap(Object object) {
    return (Map<Object, Object>) object;
  }

  /**
   * Returns the state of an object as a text. For most it is what Java serialization makes of it;
   * for some that also tells of capacities, and of which texts are one object.
   */
  private static Object state(Object object) {
    if (object instanceof Throwable error) {
      StringWriter trace = new StringWriter();
      error.printStackTrace(new PrintWriter(trace));
      return trace.toString();
    }
    if (object instanceof Calendar calendar) {
      return calendar.getClass() + calendar.getTimeZone().getID() + calendar.getTimeInMillis();
    }
    if (object instanceof ConcurrentHashMap.KeySetView<?, ?>
        || object instanceof HashSet<?>
        || object instanceof HashMap<?, ?>
        || object instanceof Hashtable<?, ?>
        || object instanceof IdentityHashMap<?, ?>) {
      return List.of(
          object.getClass(), object instanceof Map<?, ?> map ? new TreeMap<>(map) : object);
    }
    if (object instanceof StringBuilder
        || object instanceof StringBuffer
        || object instanceof Vector<?>) {
      return object.getClass() + " " + object;
    }
    return object instanceof SecureRandom random ? random.getAlgorithm() : bytes(object);
  }

  /** Returns what Java serialization makes of an object, or null if it refuses it. */
  static String bytes(Object object) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
      stream.writeObject(object);
    } catch (IOException e) {
      return null;
    }
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }
}
