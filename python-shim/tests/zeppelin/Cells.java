import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.zeppelin.interpreter.InterpreterContext;
import org.apache.zeppelin.interpreter.InterpreterGroup;
import org.apache.zeppelin.interpreter.InterpreterOutput;
import org.apache.zeppelin.interpreter.InterpreterResult;
import org.apache.zeppelin.interpreter.InterpreterResultMessage;
import org.apache.zeppelin.python.IPythonInterpreter;

/**
 * Runs cells in Zeppelin's IPython interpreter, without a server, and prints what Zeppelin would
 * keep of each. Arguments: the Python, a file that appears when a cell is to be cancelled, and the
 * cells, each a file. The one that is named {@code cancelled.py} is cancelled.
 */
public final class Cells {

  public static void main(String[] arguments) throws Exception {
    Properties properties = new Properties();
    properties.setProperty("zeppelin.python", arguments[0]);
    properties.setProperty("zeppelin.jupyter.kernel.launch.timeout", "300000");
    IPythonInterpreter interpreter =
        new IPythonInterpreter(properties) {
          @Override
          public String checkKernelPrerequisite(String python) {
            // It looks for "jupyter-client", which pip calls "jupyter_client" today.
            return "";
          }
        };
    interpreter.setUseBuiltinPy4j(false);
    interpreter.setInterpreterGroup(new InterpreterGroup());
    InterpreterContext.set(context("open"));
    interpreter.open();
    try {
      for (int i = 2; i < arguments.length; i++) {
        run(interpreter, Path.of(arguments[i]), Path.of(arguments[1]));
      }
    } finally {
      interpreter.close();
    }
    // Threads of Zeppelin would keep the process.
    System.exit(0);
  }

  private static void run(IPythonInterpreter interpreter, Path cell, Path ready) throws Exception {
    String name = cell.getFileName().toString();
    InterpreterContext context = context(name);
    long[] began = {System.nanoTime()};
    if (name.equals("cancelled.py")) {
      Thread canceller =
          new Thread(
              () -> {
                try {
                  while (!Files.exists(ready)) {
                    Thread.sleep(50);
                  }
                  began[0] = System.nanoTime();
                  interpreter.cancel(context);
                } catch (Exception e) {
                  e.printStackTrace();
                }
              });
      canceller.setDaemon(true);
      canceller.start();
    }
    InterpreterResult result = interpreter.interpret(Files.readString(cell), context);
    long millis = (System.nanoTime() - began[0]) / 1_000_000;
    context.out.flush();
    System.out.println("\n--- " + name + " " + result.code() + " " + millis);
    for (InterpreterResultMessage message : context.out.toInterpreterResultMessage()) {
      System.out.println(message.getType() + ": " + message.getData());
    }
  }

  private static InterpreterContext context(String paragraph) {
    return InterpreterContext.builder()
        .setNoteId("note")
        .setParagraphId(paragraph)
        .setInterpreterOut(new InterpreterOutput())
        .build();
  }
}
