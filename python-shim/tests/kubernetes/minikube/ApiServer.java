import io.fabric8.kubernetes.api.model.DeleteOptions;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.crud.Attribute;
import io.fabric8.mockwebserver.crud.AttributeSet;
import io.fabric8.mockwebserver.dsl.HttpMethod;
import io.fabric8.mockwebserver.http.Buffer;
import io.fabric8.mockwebserver.http.Headers;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Fabric8's mock of an API server, which stores what it is given, with what Spark needs in
 * addition: server-side apply, strategic merge, pods that begin as Pending, and the grace period of
 * a pod that is deleted. A token is the name of a service account, after its namespace and a slash
 * if it is of another one than the request; it has the rights of its roles. Who has no token may do
 * everything.
 */
final class ApiServer extends KubernetesCrudDispatcher {

  private static final String TOKEN = "Bearer ";
  private static final String PODS = "/api/v1/namespaces/[^/]+/pods(/[^/?]+)?([?].*)?";
  private static final String MERGE = "application/merge-patch+json";
  private static final String JSON = "application/json";
  private static final long DEFAULT_GRACE_SECONDS = 30;

  @Override
  public synchronized MockResponse dispatch(RecordedRequest request) {
    String path = request.getPath();
    String body = request.getUtf8Body();
    String type = Objects.toString(request.getHeader("Content-Type"), "");
    String account = Objects.toString(request.getHeader("Authorization"), "");
    if (account.startsWith(TOKEN) && !allows(account.substring(TOKEN.length()), request)) {
      Events.say("forbidden " + request.method() + " " + path);
      return status(403);
    }
    boolean ofPods = path.matches(PODS);
    if (request.method() == HttpMethod.DELETE && ofPods) {
      return deletePods(path, body);
    }
    if (request.method() == HttpMethod.PATCH && type.contains("apply-patch")) {
      return apply(path.replaceFirst("[?].*", ""), body);
    }
    if (request.method() == HttpMethod.PATCH && type.contains("strategic-merge-patch")) {
      return super.dispatch(request(HttpMethod.PATCH, path, body, MERGE));
    }
    if (request.method() == HttpMethod.POST && ofPods) {
      Pod pod = Serialization.unmarshal(body, Pod.class);
      Pod pending = new PodBuilder(pod).withNewStatus().withPhase("Pending").endStatus().build();
      return super.dispatch(request(HttpMethod.POST, path, Serialization.asJson(pending), JSON));
    }
    // A copy, because the body of the request can be read only once.
    return super.dispatch(request(request.method(), path, body, type));
  }

  private MockResponse apply(String path, String body) {
    String json =
        Serialization.asJson(Serialization.unmarshal(body, GenericKubernetesResource.class));
    if (findResource(getKey(path)) == null) {
      String parent = path.replaceFirst("/[^/]+$", "");
      return super.dispatch(request(HttpMethod.POST, parent, json, JSON));
    }
    return super.dispatch(request(HttpMethod.PATCH, path, json, MERGE));
  }

  private static RecordedRequest request(HttpMethod method, String path, String body, String type) {
    Headers headers = Headers.builder().add("Content-Type", type).build();
    byte[] bytes = body == null ? null : body.getBytes(StandardCharsets.UTF_8);
    return new RecordedRequest("HTTP/1.1", method, path, headers, new Buffer(bytes));
  }

  private MockResponse deletePods(String path, String body) {
    AttributeSet query = getKey(path);
    boolean found = false;
    for (Map.Entry<AttributeSet, String> each : List.copyOf(getMap().entrySet())) {
      if (each.getKey().matches(query)) {
        found = true;
        deletePod(path, query, each, body);
      }
    }
    boolean named = query.containsKey(new Attribute("name", "").getKey());
    return status(found || !named ? 200 : 404);
  }

  private static MockResponse status(int code) {
    String status = code == 200 ? "Success" : "Failure";
    return new MockResponse()
        .setResponseCode(code)
        .setBody(
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":%d,\"status\":\"%s\"}"
                .formatted(code, status));
  }

  private boolean allows(String account, RecordedRequest request) {
    List<HasMetadata> roles =
        getMap().values().stream()
            .filter(each -> each.contains("rbac.authorization.k8s.io"))
            .map(each -> (HasMetadata) Serialization.unmarshal(each))
            .toList();
    return new Rights(account, roles).allow(request.method(), request.getPath());
  }

  /** Deletes a pod; with a grace period it stays until its kubelet deletes it without one. */
  private void deletePod(
      String path, AttributeSet query, Map.Entry<AttributeSet, String> stored, String body) {
    Pod pod = Serialization.unmarshal(stored.getValue(), Pod.class);
    long grace = graceSeconds(pod, body);
    if (grace == 0) {
      processEvent(path, query, stored.getKey(), null, null);
    } else if (pod.getMetadata().getDeletionTimestamp() == null) {
      Instant end = Instant.now().plusSeconds(grace).truncatedTo(ChronoUnit.SECONDS);
      pod.getMetadata().setDeletionTimestamp(end.toString());
      pod.getMetadata().setDeletionGracePeriodSeconds(grace);
      // Without one the mock removes it with its next change.
      pod.getMetadata().setFinalizers(List.of("kubelet"));
      pod.getMetadata().setResourceVersion(String.valueOf(requestResourceVersion()));
      String json = Serialization.asJson(pod);
      GenericKubernetesResource changed =
          Serialization.unmarshal(json, GenericKubernetesResource.class);
      processEvent(path, query, stored.getKey(), changed, json);
    }
  }

  private static long graceSeconds(Pod pod, String body) {
    if (body != null && !body.isBlank()) {
      Long given = Serialization.unmarshal(body, DeleteOptions.class).getGracePeriodSeconds();
      if (given != null) {
        return given;
      }
    }
    return Objects.requireNonNullElse(
        pod.getSpec().getTerminationGracePeriodSeconds(), DEFAULT_GRACE_SECONDS);
  }
}
