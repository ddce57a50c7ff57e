import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.sparkcollectives.*;
import org.sparkcollectives.ddp.*;
import org.sparkcollectives.zero.*;

abstract class Zero {
  abstract void backward(ZeroRedundancyOptimizer optimizer);

  void sample(ProcessGroup world, List<Parameter> parameters, int steps, Path file)
      throws IOException {
$sample
  }
}
