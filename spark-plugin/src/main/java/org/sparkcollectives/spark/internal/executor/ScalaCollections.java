package org.sparkcollectives.spark.internal.executor;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.serializers.FieldSerializer;
import com.twitter.chill.AllScalaRegistrar;
import com.twitter.chill.EmptyScalaKryoInstantiator;
import java.util.regex.Pattern;
import org.apache.spark.serializer.KryoRegistrator;
import org.sparkcollectives.object.WholeState;
import scala.collection.Iterable;
import scala.util.matching.Regex;

/**
 * Sees to Scala's collections, and regular expressions. Chill fills a collection of a general class
 * for most of them: a {@code HashMap} for a {@code LinkedHashMap}, a buffer for a user's class that
 * extends one. Spark calls this after the user's registrators, and before Chill's, which would
 * otherwise be asked first.
 */
public final class ScalaCollections implements KryoRegistrator {

  /** The collections of Scala 2.12 and 2.13 that Chill makes again as they were. */
  private static final Pattern MADE_AGAIN =
      Pattern.compile(
          "scala[.]collection[.]immutable[.]"
              + "([$]colon[$]colon|Nil[$]|Vector[0-9]?|Queue.*|Stream.*|WrappedString|.*Range.*"
              + "|List(Map|Set)([$].*)?|Hash(Map|Set)([$].*)?|(Map|Set)[$](Empty)?(Map|Set)[0-9$]"
              + "|TreeMap|TreeSet|BitSet.*|ArraySeq.*)"
              + "|scala[.]collection[.]mutable[.]"
              + "(ArrayBuffer|ListBuffer|HashMap|HashSet|BitSet|ArraySeq.*|WrappedArray.*)");

  /** Chill's choices, which do not depend on settings. */
  private static final Kryo CHILL = new EmptyScalaKryoInstantiator().newKryo();

  static {
    new AllScalaRegistrar().apply(CHILL);
  }

  /** Creates the registrator; Spark calls this. */
  public ScalaCollections() {}

  @Override
  public void registerClasses(Kryo kryo) {
    kryo.addDefaultSerializer(Iterable.class, ScalaCollections::serializer);
    // Chill's serializer drops the names of its groups.
    kryo.addDefaultSerializer(Regex.class, (made, type) -> WholeState.serializer(made, type, null));
  }

  private static Serializer<?> serializer(Kryo kryo, Class<?> type) {
    Serializer<?> choice = chills(kryo, type);
    if (MADE_AGAIN.matcher(type.getName()).matches()) {
      return choice;
    }
    boolean isOther =
        choice.getClass().getName().startsWith("com.twitter.chill.Traversable")
            || choice.getClass().getName().startsWith("com.twitter.chill.Sorted");
    return WholeState.serializer(kryo, type, isOther ? null : choice);
  }

  private static synchronized Serializer<?> chills(Kryo kryo, Class<?> type) {
    Serializer<?> choice = CHILL.getDefaultSerializer(type);
    if (choice instanceof FieldSerializer) {
      FieldSerializer<?> fields = new FieldSerializer<>(kryo, type); // It belongs to one Kryo.
      fields.setIgnoreSyntheticFields(false); // As Chill has it.
      return fields;
    }
    return choice;
  }
}
