import org.sparkcollectives.*;
import org.sparkcollectives.gpu.*;
import org.sparkcollectives.gpu.cuda.*;
import org.sparkcollectives.store.Store;

class GpuGroup {
  static CudaDevice sample(Store store, int rank, int size, int n, float[] values) {
$sample
    return gpu;
  }
}
