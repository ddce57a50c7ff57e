import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.ArrayList;
import java.util.List;

/** Deletes what a deleted resource owned, such as the executors of a driver. */
final class GarbageCollection {

  private GarbageCollection() {}

  static void collect(KubernetesClient client, String owner) {
    List<HasMetadata> all = new ArrayList<>();
    all.addAll(client.pods().inAnyNamespace().list().getItems());
    all.addAll(client.services().inAnyNamespace().list().getItems());
    all.addAll(client.configMaps().inAnyNamespace().list().getItems());
    all.addAll(client.secrets().inAnyNamespace().list().getItems());
    all.addAll(client.network().v1().networkPolicies().inAnyNamespace().list().getItems());
    for (HasMetadata each : all) {
      boolean owned =
          each.getMetadata().getOwnerReferences().stream()
              .anyMatch(reference -> reference.getUid().equals(owner));
      if (owned) {
        client.resource(each).delete();
      }
    }
  }
}
