/**
 * What this library writes into Spark's event log, for the tab "Collectives" and for other readers.
 *
 * <p><b>These classes never move.</b> The event log names them in each line, and a history server
 * of any later version must read that line. So no class of this package is renamed or moved, no
 * component changes its name or type, and none is removed. New components may be added; they are
 * null or 0 where a line of an older version lacks them, and the constructor then puts the default.
 * A reader ignores components that it does not know. {@code EventsTest} reads lines that earlier
 * versions wrote.
 *
 * <p>No component has a type of Spark or Scala. Texts are cut and lists are bounded, because a
 * history server reads the whole log. Each class is a record or has a constructor without
 * arguments: if Spark's Jackson cannot make an event, no page of the application is shown.
 */
package org.sparkcollectives.spark.event;
