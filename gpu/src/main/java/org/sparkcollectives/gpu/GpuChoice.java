package org.sparkcollectives.gpu;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.spi.RankContext;

/**
 * Chooses the GPU that a rank works on.
 *
 * <p>Spark gives a task addresses, which number the GPUs of the host. CUDA numbers only those that
 * the process sees: {@code CUDA_VISIBLE_DEVICES} chooses and renumbers them. With {@code
 * CUDA_VISIBLE_DEVICES=2,3} address 3 is ordinal 1. An address may also be a UUID, as {@code
 * nvidia-smi -L} prints it.
 */
public final class GpuChoice {

  private static final Logger LOG = LoggerFactory.getLogger(GpuChoice.class);
  private static final String VISIBLE = "CUDA_VISIBLE_DEVICES";

  private final Cuda cuda;
  private final UnaryOperator<String> environment;

  GpuChoice(Cuda cuda, UnaryOperator<String> environment) {
    this.cuda = cuda;
    this.environment = environment;
  }

  /** Creates a choice among the GPUs of this process. */
  public static GpuChoice among(Cuda cuda) {
    return new GpuChoice(cuda, System::getenv);
  }

  /**
   * Opens the GPU of a rank. The caller closes it.
   *
   * @throws IllegalArgumentException if it cannot be determined, saying what to set
   */
  public CudaDevice of(RankContext rank) {
    return CudaDevice.open(cuda, ordinal(rank));
  }

  int ordinal(RankContext rank) {
    int configured = rank.configuration().get(GpuConfiguration.ORDINAL);
    if (configured >= 0) {
      return configured;
    }
    List<String> addresses = rank.gpuAddresses();
    if (!addresses.isEmpty()) {
      if (addresses.size() > 1) {
        LOG.info(
            "The task has the GPUs {}; a rank works on one, so it takes the first. Give each task"
                + " one (spark.task.resource.gpu.amount=1), or choose by {}",
            addresses,
            GpuConfiguration.ORDINAL.key());
      }
      return ordinalOf(addresses.get(0).trim());
    }
    String localRank = environment.apply("LOCAL_RANK");
    if (localRank != null && !localRank.isBlank()) {
      return number(localRank.trim(), "the environment variable LOCAL_RANK");
    }
    int count = cuda.deviceCount();
    if (count == 1) {
      return 0;
    }
    throw new IllegalArgumentException(
        "The GPU of the rank, among the "
            + count
            + " of this process, cannot be determined: in Spark, ask for"
            + " spark.task.resource.gpu.amount=1; elsewhere set "
            + GpuConfiguration.ORDINAL.key()
            + " or the environment variable LOCAL_RANK");
  }

  private int ordinalOf(String address) {
    if (address.startsWith("GPU-")) {
      return ordinalOfUuid(address);
    }
    int index = number(address, "the address of the resource gpu that Spark has given to the task");
    String visible = environment.apply(VISIBLE);
    if (visible == null) {
      return index;
    }
    // CUDA reads no further than to an entry that names no GPU.
    List<String> entries =
        Arrays.stream(visible.split(",", -1))
            .map(String::trim)
            .takeWhile(each -> !each.isEmpty() && !each.startsWith("-"))
            .toList();
    if (entries.stream().anyMatch(each -> !each.matches("\\d+"))) {
      throw new IllegalArgumentException(
          VISIBLE
              + " is "
              + visible
              + ", which does not say which of its entries is the host's GPU "
              + index
              + ", the address that Spark has given to the task. Let the discovery script print"
              + " UUIDs too, or set "
              + GpuConfiguration.ORDINAL.key());
    }
    int ordinal = entries.indexOf(Integer.toString(index));
    if (ordinal < 0) {
      throw new IllegalArgumentException(
          "Spark has given GPU "
              + index
              + " of the host to the task, but "
              + VISIBLE
              + " lets this process see "
              + (entries.isEmpty() ? "none (it is \"" + visible + "\")" : "only " + visible)
              + ". Make the discovery script and "
              + VISIBLE
              + " agree, or set "
              + GpuConfiguration.ORDINAL.key());
    }
    return ordinal;
  }

  private int ordinalOfUuid(String address) {
    List<String> seen = new ArrayList<>();
    for (int ordinal = 0; ordinal < cuda.deviceCount(); ordinal++) {
      try (CudaDevice device = CudaDevice.open(cuda, ordinal)) {
        // Spark's address may be the beginning of the UUID, as NVIDIA's own tools accept it.
        if (device.uuid().startsWith(address)) {
          return ordinal;
        }
        seen.add(device.uuid());
      }
    }
    throw new IllegalArgumentException(
        "Spark has given the GPU "
            + address
            + " to the task, but this process sees only "
            + seen
            + " ("
            + VISIBLE
            + " is "
            + environment.apply(VISIBLE)
            + ")");
  }

  private static int number(String text, String source) {
    try {
      int number = Integer.parseInt(text);
      if (number >= 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      LOG.debug("{} is no number", source, e);
    }
    throw new IllegalArgumentException(
        source
            + " is \""
            + text
            + "\", not the number of a GPU; set "
            + GpuConfiguration.ORDINAL.key());
  }
}
