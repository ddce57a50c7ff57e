package org.sparkcollectives.spark.internal.ui;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.apache.spark.ui.SparkUITab;
import org.apache.spark.ui.UIUtils$;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction0;
import scala.xml.Node;
import scala.xml.Unparsed;

/** Spark's frame around a page, made by a method that has other parameters in each Spark. */
final class SparkFrame {

  private static final String METHOD = "headerSparkPage";

  /** The parameters before those that have defaults. */
  private static final int GIVEN = 4;

  private SparkFrame() {}

  /** Returns a page with {@code html} below its title. */
  @SuppressWarnings("unchecked")
  static Seq<Node> page(Object request, String title, String html, SparkUITab tab) {
    Seq<Node> content = new Unparsed(html);
    AbstractFunction0<Seq<Node>> body =
        new AbstractFunction0<>() {
          @Override
          public Seq<Node> apply() {
            return content;
          }
        };
    try {
      Method method = method();
      Object[] arguments =
          Arrays.copyOf(new Object[] {request, title, body, tab}, method.getParameterCount());
      for (int i = GIVEN; i < arguments.length; i++) {
        String name = METHOD + "$default$" + (i + 1);
        arguments[i] = UIUtils$.class.getMethod(name).invoke(UIUtils$.MODULE$);
      }
      return (Seq<Node>) method.invoke(UIUtils$.MODULE$, arguments);
    } catch (InvocationTargetException e) {
      throw new IllegalStateException("Spark could not make the page " + title, e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("This Spark makes its pages in an unknown way", e);
    }
  }

  private static Method method() throws NoSuchMethodException {
    return Arrays.stream(UIUtils$.class.getMethods())
        .filter(each -> each.getName().equals(METHOD))
        .findFirst()
        .orElseThrow(() -> new NoSuchMethodException(METHOD));
  }
}
