import com.esotericsoftware.kryo.Kryo;
import org.apache.spark.serializer.KryoRegistrator;
import org.sparkcollectives.object.*;

class Registrator implements KryoRegistrator {
  record MyRecord(int field) {}

  @Override
$sample
}
