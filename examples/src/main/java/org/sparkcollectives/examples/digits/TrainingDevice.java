package org.sparkcollectives.examples.digits;

import org.apache.spark.SparkConf;
import org.sparkcollectives.Device;

/**
 * The device on which the gradients of the ranks are added up. The network itself is computed on
 * the CPU.
 */
enum TrainingDevice {
  /** Host memory. */
  CPU(Device.Type.CPU),

  /** A GPU for each rank, which Spark assigns to its task. */
  GPU(Device.Type.CUDA);

  private final Device.Type type;

  TrainingDevice(Device.Type type) {
    this.type = type;
  }

  Device.Type type() {
    return type;
  }

  /** Requests the resources that the ranks need, unless the user has configured them. */
  void configure(SparkConf conf) {
    if (this == GPU) {
      conf.setIfMissing("spark.task.resource.gpu.amount", "1");
      conf.setIfMissing("spark.collectives.backend", "cpu:netty,cuda:nccl");
    }
  }

  /** Returns whether Spark is configured with executors that have what the ranks need. */
  boolean isThere(SparkConf conf) {
    return this == CPU || conf.contains("spark.executor.resource.gpu.amount");
  }
}
