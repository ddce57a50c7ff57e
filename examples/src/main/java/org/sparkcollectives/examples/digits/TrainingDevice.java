package org.sparkcollectives.examples.digits;

import org.apache.spark.SparkConf;
import org.sparkcollectives.Device;

/** Where the gradients of the ranks are added up. The network itself is computed on the CPU. */
enum TrainingDevice {
  /** In host memory. */
  CPU(Device.Type.CPU),

  /** On a GPU for each rank, which Spark gives to its task. */
  GPU(Device.Type.CUDA);

  private final Device.Type type;

  TrainingDevice(Device.Type type) {
    this.type = type;
  }

  Device.Type type() {
    return type;
  }

  /** Asks for what the ranks need, where the user has not said otherwise. */
  void configure(SparkConf conf) {
    if (this == GPU) {
      conf.setIfMissing("spark.task.resource.gpu.amount", "1");
      conf.setIfMissing("spark.collectives.backend", "cpu:netty,cuda:nccl");
    }
  }

  /** Whether Spark was told that executors have what the ranks need. */
  boolean isThere(SparkConf conf) {
    return this == CPU || conf.contains("spark.executor.resource.gpu.amount");
  }
}
