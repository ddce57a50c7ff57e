package org.sparkcollectives.spi;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkcollectives.BackendConfig;
import org.sparkcollectives.Device;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.config.NearestName;

/**
 * The backends that groups of this JVM can ask for: {@value #NETTY}, which is built in, those that
 * {@link ServiceLoader} finds, and those that were registered. Thread-safe.
 */
public final class BackendRegistry {

  /** The backend for host memory: heap, shared memory, TCP over Netty. */
  public static final String NETTY = BackendConfig.NETTY;

  /**
   * The backend that {@value #NETTY} means for tensors of a GPU, if a jar on the class path
   * provides it. It copies them to host memory and back.
   */
  public static final String NETTY_ON_GPU = "netty-cuda";

  private static final Map<String, BackendProvider> REGISTERED = new ConcurrentHashMap<>();

  private BackendRegistry() {}

  /**
   * Registers {@code provider}, so that groups made from now on can ask for its backends.
   *
   * @throws IllegalArgumentException if there is a backend of that name, or none can have it
   */
  public static void register(BackendProvider provider) {
    String name = Objects.requireNonNull(provider.name(), "name");
    if (name.isEmpty() || !BackendConfig.parse(name).everywhere().equals(name)) {
      throw new IllegalArgumentException("A backend cannot be named \"" + name + "\"");
    }
    if (name.equals(NETTY)
        || discovered(name).isPresent()
        || REGISTERED.putIfAbsent(name, provider) != null) {
      throw new IllegalArgumentException("There is a backend named " + name + " already");
    }
  }

  /** Undoes {@link #register}; groups that use the backend go on. */
  public static void unregister(String name) {
    REGISTERED.remove(name);
  }

  /**
   * Returns the provider of a backend other than {@value #NETTY}.
   *
   * @throws IllegalArgumentException if there is none of that name
   */
  public static BackendProvider provider(String name) {
    BackendProvider registered = REGISTERED.get(name);
    if (registered != null) {
      return registered;
    }
    return discovered(name)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "There is no backend named \""
                        + name
                        + "\", only "
                        + names()
                        + "; the jar that provides it must be on the class path"
                        + NearestName.question(name, names())));
  }

  /**
   * Returns whether all backends that {@code config} names can be used in this process, as c10d's
   * {@code is_backend_available}: whether their jars are here, and the drivers and native libraries
   * that they need, which are loaded to find out.
   *
   * @throws IllegalArgumentException if {@code config} is malformed
   */
  public static boolean isAvailable(String config) {
    BackendConfig parsed = BackendConfig.parse(config);
    return parsed.byDevice().isEmpty()
        ? isUsable(parsed.everywhere())
        : parsed.byDevice().entrySet().stream()
            .allMatch(
                each ->
                    isUsable(
                        each.getKey() == Device.Type.CUDA && each.getValue().equals(NETTY)
                            ? NETTY_ON_GPU
                            : each.getValue()));
  }

  private static boolean isUsable(String name) {
    return name.equals(NETTY) || (names().contains(name) && provider(name).isAvailable());
  }

  /** Returns the names that can be asked for. */
  public static Set<String> names() {
    Set<String> names = new TreeSet<>(REGISTERED.keySet());
    names.add(NETTY);
    for (BackendProvider each : load()) {
      names.add(each.name());
    }
    return names;
  }

  /** Returns the settings that the backends on the class path read. */
  public static List<ConfigEntry<?>> settings() {
    Set<ConfigEntry<?>> settings = new LinkedHashSet<>();
    for (BackendProvider each : load()) {
      settings.addAll(each.settings());
    }
    return List.copyOf(settings);
  }

  private static Optional<BackendProvider> discovered(String name) {
    for (BackendProvider each : load()) {
      if (each.name().equals(name)) {
        return Optional.of(each);
      }
    }
    return Optional.empty();
  }

  /** Finds providers by the loader of this class, which in Spark has the user's jars too. */
  private static ServiceLoader<BackendProvider> load() {
    return ServiceLoader.load(BackendProvider.class, BackendRegistry.class.getClassLoader());
  }
}
