import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;

/** Resources from files, which must not have a kind or a field that Kubernetes does not have. */
final class Manifests {

  /** Writes the fields of the model alone, without those that it has read and does not know. */
  private static final ObjectMapper KNOWN_FIELDS =
      Serialization.jsonMapper()
          .copy()
          .setAnnotationIntrospector(
              new JacksonAnnotationIntrospector() {
                private static final long serialVersionUID = 1;

                @Override
                public Boolean hasAnyGetter(Annotated member) {
                  return false;
                }
              });

  private Manifests() {}

  /** Creates all resources of a file, or none. */
  static void create(Path file, KubernetesClient client) throws IOException {
    String[] documents = Files.readString(file).split("(?m)^---$");
    for (String document : documents) {
      check(document);
    }
    for (String document : documents) {
      HasMetadata resource = Serialization.unmarshal(document);
      client.resource(resource).create();
    }
  }

  private static void check(String document) {
    HasMetadata resource = Serialization.unmarshal(document);
    if (resource instanceof GenericKubernetesResource) {
      throw new IllegalArgumentException(
          "there is no " + resource.getApiVersion() + " " + resource.getKind());
    }
    JsonNode given = Serialization.unmarshal(document, JsonNode.class);
    check(given, KNOWN_FIELDS.valueToTree(resource), resource.getKind());
  }

  private static void check(JsonNode given, JsonNode known, String path) {
    for (Iterator<String> names = given.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      JsonNode value = given.get(name);
      boolean isEmpty = value.isNull() || value.isContainerNode() && value.isEmpty();
      if (known.has(name)) {
        check(value, known.get(name), path + "." + name);
      } else if (!isEmpty) {
        throw new IllegalArgumentException("unknown field " + path + "." + name);
      }
    }
    for (int i = 0; given.isArray() && i < given.size(); i++) {
      check(given.get(i), known.get(i), path + "[" + i + "]");
    }
  }
}
