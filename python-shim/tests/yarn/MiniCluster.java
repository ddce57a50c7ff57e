import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * Runs Hadoop's mini cluster until its input ends: a ResourceManager and two NodeManagers in this
 * JVM, whose containers are processes. Writes the client's configuration into the folder that is
 * its argument.
 */
public final class MiniCluster {

  private static final int NODES = 2;

  private static YarnConfiguration settings() {
    YarnConfiguration settings = new YarnConfiguration();
    settings.set("fs.defaultFS", "file:///");
    settings.set(
        YarnConfiguration.RM_SCHEDULER,
        "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler");
    settings.set("yarn.scheduler.capacity.root.queues", "default");
    settings.set("yarn.scheduler.capacity.root.default.capacity", "100");
    // So that cores count, and the master of an application may take most of a node.
    settings.set(
        "yarn.scheduler.capacity.resource-calculator",
        "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator");
    settings.set("yarn.scheduler.capacity.maximum-am-resource-percent", "0.9");
    settings.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 128);
    settings.setInt(YarnConfiguration.NM_PMEM_MB, 2048);
    settings.setInt(YarnConfiguration.NM_VCORES, 3);
    settings.setBoolean(YarnConfiguration.NM_VMEM_CHECK_ENABLED, false);
    // A disk that is nearly full is no reason to refuse containers of a test.
    settings.setFloat(YarnConfiguration.NM_MAX_PER_DISK_UTILIZATION_PERCENTAGE, 99.9f);
    return settings;
  }

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    try (MiniYARNCluster cluster = new MiniYARNCluster("collectives", NODES, 1, 1)) {
      cluster.init(settings());
      cluster.start();
      if (!cluster.waitForNodeManagersToConnect(60_000)) {
        throw new IllegalStateException("The NodeManagers have not connected");
      }
      Path written = folder.resolve("yarn-site.part");
      try (OutputStream file = Files.newOutputStream(written)) {
        cluster.getConfig().writeXml(file);
      }
      // In one step, because the tests read it as soon as it exists.
      Files.move(written, folder.resolve("yarn-site.xml"), StandardCopyOption.ATOMIC_MOVE);
      while (System.in.read() >= 0) {}
    }
  }
}
