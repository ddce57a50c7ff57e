package org.sparkcollectives.spark.internal.ui;

import java.util.function.UnaryOperator;
import org.apache.spark.ui.SparkUITab;
import org.apache.spark.ui.WebUIPage;
import scala.collection.immutable.Seq;
import scala.xml.Node;

/**
 * A page of the tab, and the same as JSON at the page's address and {@code /json}.
 *
 * <p>The methods of all supported Sparks are here: those with {@code jakarta.servlet} are called by
 * Spark 4, those with {@code javax.servlet} by Spark 3.5, and by Spark 4 of Databricks. A request
 * is passed on as an object, so that the JVM never looks for the servlet API that is missing.
 * Nothing may ask this class for its declared methods.
 */
abstract class CollectivesPage extends WebUIPage implements OtherSparks.Page {

  private final SparkUITab tab;

  /**
   * Creates a page.
   *
   * @param name the last part of its address; empty for the first page of the tab
   */
  CollectivesPage(SparkUITab tab, String name) {
    super(name);
    this.tab = tab;
  }

  /**
   * Returns the page's title, of which Spark escapes what HTML needs.
   *
   * @param parameter returns a parameter of the request by its name; null if it is absent
   */
  abstract String title(UnaryOperator<String> parameter);

  /** Returns what is below the title, as HTML. */
  abstract String html(UnaryOperator<String> parameter);

  /** Returns what Jackson writes as JSON. */
  abstract Object json(UnaryOperator<String> parameter);

  @Override
  public final Seq<Node> render(jakarta.servlet.http.HttpServletRequest request) {
    return page(request, request::getParameter);
  }

  @Override
  public final Seq<Node> render(javax.servlet.http.HttpServletRequest request) {
    return page(request, request::getParameter);
  }

  private Seq<Node> page(Object request, UnaryOperator<String> parameter) {
    return SparkFrame.page(request, title(parameter), html(parameter), tab);
  }

  @Override
  public final org.json4s.JValue renderJson(jakarta.servlet.http.HttpServletRequest request) {
    return (org.json4s.JValue) SparkJson.of(json(request::getParameter));
  }

  /** Overrides the method of Spark 3.5. */
  public final org.json4s.JsonAST.JValue renderJson(javax.servlet.http.HttpServletRequest request) {
    return (org.json4s.JsonAST.JValue) SparkJson.of(json(request::getParameter));
  }
}
