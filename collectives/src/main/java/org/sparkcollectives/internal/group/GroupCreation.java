package org.sparkcollectives.internal.group;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.config.UnknownSettings;
import org.sparkcollectives.internal.algorithm.CostProfile;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.spi.BackendRegistry;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.RendezvousHandler;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConfiguration;

/** Makes the first group of a rank: finds the others, then assembles this rank's part. */
public final class GroupCreation {

  /** Settings that this library reads in Spark only, or in modules that may not be here. */
  private static final Set<String> OF_OTHER_MODULES =
      Set.of(
          "spark.collectives.gpu.",
          "spark.collectives.ml.",
          "spark.collectives.preflight.",
          "spark.collectives.python.",
          "spark.collectives.statistics.",
          "spark.collectives.store.max",
          "spark.collectives.ui.");

  /** The name of a reconfigurable group without one: alike on ranks that are made at any time. */
  private static final String RECONFIGURABLE = "reconfigurable";

  private static final String LONGEST_SUFFIX = "/reconfigured-" + Long.MIN_VALUE;

  private GroupCreation() {}

  /** Warns of system properties: in Spark the driver warns of Spark's settings. */
  private static void warnOfUnknownSettings() {
    List<ConfigEntry<?>> known = new ArrayList<>(CollectivesConfiguration.entries());
    known.addAll(StoreConfiguration.entries());
    known.addAll(BackendRegistry.settings());
    UnknownSettings.warn(System.getProperties().stringPropertyNames(), known, OF_OTHER_MODULES);
  }

  /** Makes the first group of a rank, see {@link org.sparkcollectives.ProcessGroups#create}. */
  public static ProcessGroup create(Store store, int rank, int size, GroupOptions options) {
    warnOfUnknownSettings();
    return create(store, rank, size, options, RankContext.process(), () -> {});
  }

  /**
   * Makes the first group of a rank, see {@link org.sparkcollectives.spi.HostedGroups#create}.
   *
   * @param afterClose run when the group is closed
   */
  public static ProcessGroup create(
      Store store,
      int rank,
      int size,
      GroupOptions options,
      RankContext context,
      Runnable afterClose) {
    return RankProcessGroup.owning(
        FirstGroup.make(
            assembly(store, context),
            store,
            rank,
            size,
            options,
            FirstGroup.limit(store.timeout(), options, context),
            afterClose));
  }

  /** See {@link org.sparkcollectives.ProcessGroups#reconfigurable}. */
  public static ReconfigurableGroup reconfigurable(
      Store store, int rank, int size, GroupOptions options) {
    warnOfUnknownSettings();
    return reconfigurable(store, rank, size, options, RankContext.process(), () -> {});
  }

  /** See {@link org.sparkcollectives.spi.HostedGroups#reconfigurable}. */
  public static ReconfigurableGroup reconfigurable(
      Store store,
      int rank,
      int size,
      GroupOptions options,
      RankContext context,
      Runnable afterClose) {
    FirstGroup.requireRank(rank, size, options);
    GroupOptions named = options.name().isEmpty() ? options.withName(RECONFIGURABLE) : options;
    Membership.requireName(named.name() + LONGEST_SUFFIX);
    return new ReconfigurableRank(
        assembly(store, context),
        rank,
        size,
        ResolvedOptions.resolve(named, context.configuration()),
        afterClose);
  }

  /** Makes the first group of a rank, see {@link org.sparkcollectives.Rendezvous#join}. */
  public static ProcessGroup join(URI url, RendezvousHandler handler, GroupOptions options) {
    warnOfUnknownSettings();
    Duration ofStore = Configuration.ofSystemProperties().get(StoreConfiguration.TIMEOUT);
    Deadline deadline = FirstGroup.limit(ofStore, options, RankContext.process());
    RendezvousHandler.Meeting meeting = handler.open(url, deadline.left());
    try {
      RankContext context = RankContext.process(meeting.bindHost());
      return RankProcessGroup.owning(
          FirstGroup.make(
              assembly(meeting.store(), context),
              meeting.store(),
              meeting.rank(),
              meeting.size(),
              options,
              deadline,
              meeting.onClose()));
    } catch (RuntimeException e) {
      handler.failed(meeting, e);
      throw e;
    } catch (Error e) {
      handler.failed(meeting, new IllegalStateException(e));
      throw e;
    }
  }

  /** Returns the assembly of a rank's first group. Reads the rank's cost profile. */
  private static GroupAssembly assembly(Store store, RankContext context) {
    String costs = context.configuration().get(CollectivesConfiguration.COST);
    return new GroupAssembly(store, context, CostProfile.of(costs), "");
  }
}
