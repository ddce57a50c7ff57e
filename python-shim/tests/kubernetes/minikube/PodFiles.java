import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapVolumeSource;
import io.fabric8.kubernetes.api.model.EmptyDirVolumeSource;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarSource;
import io.fabric8.kubernetes.api.model.KeyToPath;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.SecretKeySelector;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Makes the environment variables, the volumes and the file of hosts of a container. */
final class PodFiles {

  private final KubernetesClient client;

  PodFiles(KubernetesClient client) {
    this.client = client;
  }

  Map<String, String> environment(RunningPod pod) {
    Map<String, String> result = new HashMap<>();
    result.put("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    result.put("SPARK_HOME", "/opt/spark");
    result.put("JAVA_HOME", System.getProperty("java.home"));
    for (EnvVar each : pod.container.getEnv()) {
      EnvVarSource source = each.getValueFrom();
      String value =
          source == null ? Objects.toString(each.getValue(), "") : valueFrom(source, pod);
      result.put(each.getName(), value);
    }
    return result;
  }

  private String valueFrom(EnvVarSource source, RunningPod pod) {
    if (source.getFieldRef() != null) {
      return switch (source.getFieldRef().getFieldPath()) {
        case "status.podIP" -> pod.address;
        case "metadata.name" -> pod.name;
        case "metadata.namespace" -> pod.kubernetesNamespace;
        default -> throw new IllegalArgumentException(source.toString());
      };
    }
    if (source.getSecretKeyRef() != null) {
      SecretKeySelector key = source.getSecretKeyRef();
      return new String(secret(pod, key.getName()).get(key.getKey()), StandardCharsets.UTF_8);
    }
    throw new IllegalArgumentException(source.toString());
  }

  private Map<String, byte[]> secret(RunningPod pod, String name) {
    Map<String, byte[]> result = new HashMap<>();
    // Spark makes those of the driver after its pod; a kubelet waits, too.
    client
        .secrets()
        .inNamespace(pod.kubernetesNamespace)
        .withName(name)
        .waitUntilCondition(Objects::nonNull, 60, TimeUnit.SECONDS)
        .getData()
        .forEach((key, data) -> result.put(key, Base64.getDecoder().decode(data)));
    return result;
  }

  /** Returns lines of a kind (tmpfs or bind), a source (the size of a tmpfs) and a path. */
  List<String> mounts(Pod pod, RunningPod running, Path folder) throws IOException {
    List<String> result = new ArrayList<>();
    for (VolumeMount mount : running.container.getVolumeMounts()) {
      Volume volume =
          pod.getSpec().getVolumes().stream()
              .filter(each -> each.getName().equals(mount.getName()))
              .findFirst()
              .orElseThrow();
      result.add(source(volume, running, folder) + " " + mount.getMountPath());
    }
    return result;
  }

  private String source(Volume volume, RunningPod pod, Path folder) throws IOException {
    EmptyDirVolumeSource empty = volume.getEmptyDir();
    if (empty != null && "Memory".equals(empty.getMedium())) {
      Quantity limit = empty.getSizeLimit();
      return "tmpfs " + (limit == null ? "50%" : limit.getNumericalAmount().toBigInteger());
    }
    if (volume.getHostPath() != null) {
      return "bind " + volume.getHostPath().getPath();
    }
    Path place = Files.createDirectories(folder.resolve("volume-" + volume.getName()));
    Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwxrwxrwx"));
    if (volume.getConfigMap() != null) {
      write(volume.getConfigMap(), pod, place);
    } else if (volume.getSecret() != null) {
      for (Map.Entry<String, byte[]> each :
          secret(pod, volume.getSecret().getSecretName()).entrySet()) {
        Files.write(place.resolve(each.getKey()), each.getValue());
      }
    } else if (empty == null) {
      throw new IllegalArgumentException(volume.toString());
    }
    return "bind " + place;
  }

  private void write(ConfigMapVolumeSource volume, RunningPod pod, Path place) throws IOException {
    // Spark makes that of the executors after the first of them; a kubelet waits, too.
    ConfigMap map =
        client
            .configMaps()
            .inNamespace(pod.kubernetesNamespace)
            .withName(volume.getName())
            .waitUntilCondition(Objects::nonNull, 60, TimeUnit.SECONDS);
    if (volume.getItems().isEmpty()) {
      for (Map.Entry<String, String> each : map.getData().entrySet()) {
        Files.writeString(place.resolve(each.getKey()), each.getValue());
      }
    }
    for (KeyToPath item : volume.getItems()) {
      Files.writeString(place.resolve(item.getPath()), map.getData().get(item.getKey()));
    }
  }

  /** Returns the file of hosts: instead of DNS, the services whose pods have started before. */
  List<String> hosts(RunningPod pod, Map<String, RunningPod> pods) {
    List<String> result = new ArrayList<>();
    result.add("127.0.0.1 localhost");
    result.add(pod.address + " " + pod.name);
    for (Service service : client.services().inAnyNamespace().list().getItems()) {
      String namespace = service.getMetadata().getNamespace();
      String host = service.getMetadata().getName() + "." + namespace + ".svc";
      for (Pod each : client.pods().inNamespace(namespace).list().getItems()) {
        RunningPod running = pods.get(each.getMetadata().getName());
        if (running != null && Labels.select(service.getSpec().getSelector(), each)) {
          result.add(running.address + " " + host + " " + host + ".cluster.local");
        }
      }
    }
    return result;
  }
}
