package org.sparkcollectives.spark.internal.security;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spark.config.SparkSettings;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.spi.Encryption;

/**
 * Decides how an application's executors protect their connections: as Spark protects its own RPC.
 * They are unprotected only if Spark's are, and nobody asks for protection.
 *
 * <p>Spark's settings are the same on all executors of an application, so the decision is, too.
 */
public final class SparkSecurity {

  private static final String SSL_RPC = "spark.ssl.rpc.enabled";
  private static final Logger LOG = LoggerFactory.getLogger(SparkSecurity.class);

  /** One for each application, because ranks of equal security share a port. */
  private static final Map<SparkEnv, TransportSecurity> MADE =
      Collections.synchronizedMap(new WeakHashMap<>());

  private static final Set<SparkEnv> WARNED =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private SparkSecurity() {}

  /**
   * Returns the protection of an application's connections.
   *
   * @throws IllegalArgumentException if TLS is demanded, but its keys are not available
   */
  public static TransportSecurity of(SparkEnv env) {
    return MADE.computeIfAbsent(env, SparkSecurity::make);
  }

  private static TransportSecurity make(SparkEnv env) {
    TransportSecurity security = make(env.conf(), env.securityManager());
    LOG.info("Connections between executors for collectives: {}", security);
    return security;
  }

  /** Returns the protection that these settings demand. */
  static TransportSecurity make(SparkConf conf, SecurityManager manager) {
    boolean tls = conf.getBoolean(SSL_RPC, false);
    if (tls && hasRpcTls()) {
      return RpcTls.of(conf, manager.getSSLOptions("rpc"));
    }
    // Spark 3.5 has no keys for TLS: a user who demands it there gets it with keys of the
    // processes.
    return tls || encrypts(conf) ? TransportSecurity.ephemeralTls() : TransportSecurity.plain();
  }

  private static boolean encrypts(SparkConf conf) {
    return conf.getBoolean("spark.network.crypto.enabled", false)
        || conf.getBoolean("spark.authenticate.enableSaslEncryption", false)
        || SparkSettings.of(conf).get(CollectivesConfiguration.ENCRYPTION) != Encryption.NONE;
  }

  /** Returns whether this Spark can protect its RPC with TLS: from 4.0 on. */
  private static boolean hasRpcTls() {
    try {
      Class.forName(
          "org.apache.spark.network.ssl.SSLFactory", false, SparkEnv.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /**
   * Warns, once in a process that serves a store, about the consequences if Spark authenticates
   * nobody.
   */
  public static void warnIfOpen(SparkEnv env) {
    if (!env.conf().getBoolean("spark.authenticate", false) && WARNED.add(env)) {
      LOG.warn(
          "spark.authenticate is off: whoever reaches the ports of this application can get the"
              + " secrets of its process groups, join them, and read what they send. Set"
              + " spark.authenticate=true, and spark.network.crypto.enabled=true to encrypt, unless"
              + " everybody on this network is trusted");
    }
  }
}
