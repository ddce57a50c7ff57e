import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.mockwebserver.dsl.HttpMethod;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks requests of a service account against its roles. */
final class Rights {

  private static final Pattern PATH =
      Pattern.compile(
          "/(?:api|apis/(?<group>[^/]+))/v[^/]+/namespaces/(?<namespace>[^/]+)"
              + "/(?<resource>[^/?]+)(?:/(?<name>[^/?]+))?(?:/[^?]*)?(?<query>[?].*)?");

  private final String account;
  private final Collection<HasMetadata> stored;

  Rights(String account, Collection<HasMetadata> stored) {
    this.account = account;
    this.stored = stored;
  }

  /** Returns whether a role lets the account make the request. */
  boolean allow(HttpMethod method, String path) {
    Matcher request = PATH.matcher(path);
    if (!request.matches()) {
      return false;
    }
    String group = request.group("group") == null ? "" : request.group("group");
    String verb = verb(method, request);
    return rules(request.group("namespace")).stream()
        .anyMatch(
            rule ->
                rule.getApiGroups().contains(group)
                    && rule.getResources().contains(request.group("resource"))
                    && rule.getVerbs().contains(verb));
  }

  private static String verb(HttpMethod method, Matcher request) {
    boolean named = request.group("name") != null;
    String query = request.group("query") == null ? "" : request.group("query");
    return switch (method) {
      case GET -> query.contains("watch=true") ? "watch" : named ? "get" : "list";
      case POST -> "create";
      case PUT -> "update";
      case PATCH -> "patch";
      case DELETE -> named ? "delete" : "deletecollection";
      default -> method.toString();
    };
  }

  private List<PolicyRule> rules(String namespace) {
    List<String> roles =
        in(namespace, RoleBinding.class).stream()
            .filter(binding -> binds(binding, namespace))
            .map(binding -> binding.getRoleRef().getName())
            .toList();
    return in(namespace, Role.class).stream()
        .filter(role -> roles.contains(role.getMetadata().getName()))
        .flatMap(role -> role.getRules().stream())
        .toList();
  }

  private boolean binds(RoleBinding binding, String namespace) {
    String name = account.contains("/") ? account : namespace + "/" + account;
    return binding.getSubjects().stream()
        .anyMatch(
            subject ->
                subject.getKind().equals("ServiceAccount")
                    && name.equals(subject.getNamespace() + "/" + subject.getName()));
  }

  private <T extends HasMetadata> List<T> in(String namespace, Class<T> kind) {
    return stored.stream()
        .filter(kind::isInstance)
        .map(kind::cast)
        .filter(each -> each.getMetadata().getNamespace().equals(namespace))
        .toList();
  }
}
