import io.fabric8.kubernetes.api.model.Pod;
import java.util.Map;

/** Labels, by which services and policies select pods. */
final class Labels {

  private Labels() {}

  /** Returns whether the pod has all the labels. */
  static boolean select(Map<String, String> labels, Pod pod) {
    if (labels == null || labels.isEmpty()) {
      return true;
    }
    Map<String, String> own = pod.getMetadata().getLabels();
    return own != null && own.entrySet().containsAll(labels.entrySet());
  }
}
