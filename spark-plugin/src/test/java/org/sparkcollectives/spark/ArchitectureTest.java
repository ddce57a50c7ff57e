package org.sparkcollectives.spark;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasModifiers.Predicates.modifier;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Tests the dependencies between packages, for all modules of Java: arrows point downward only.
 * docs/internals/architecture.md draws them.
 */
class ArchitectureTest {

  private static final String[] IMPLEMENTATION_OF_CORE = {
    "org.sparkcollectives.internal..", "org.sparkcollectives.store.internal.."
  };

  private static final String[] TRAINING = {
    "org.sparkcollectives.ddp",
    "org.sparkcollectives.zero",
    "org.sparkcollectives.join",
    "org.sparkcollectives.averaging"
  };

  private static final String PLUGIN = "org.sparkcollectives.spark";

  private static final JavaClasses LIBRARY =
      new ClassFileImporter()
          .withImportOption(ArchitectureTest::isMainCode)
          .importPackages("org.sparkcollectives");

  private static boolean isMainCode(Location location) {
    return !location.contains("/test-classes/")
        && !location.contains("/test/")
        && !location.contains("-tests.jar");
  }

  @Test
  void allModulesAreLookedAt() {
    for (String module :
        new String[] {
          "store", "internal.engine", "ddp", "gpu.nccl", "spark", "spark.internal.driver"
        }) {
      assertThat(LIBRARY.stream().map(JavaClass::getPackageName))
          .contains("org.sparkcollectives." + module);
    }
    assertThat(LIBRARY.stream().map(JavaClass::getSimpleName)).doesNotContain("ArchitectureTest");
  }

  @Test
  void noPackagesFormACircle() {
    SlicesRuleDefinition.slices().assignedFrom(packages()).should().beFreeOfCycles().check(LIBRARY);
  }

  @Test
  void theApiNeedsNothingOfItsImplementation() {
    noClasses()
        .that()
        .resideInAPackage("org.sparkcollectives")
        .should()
        .dependOnClassesThat(
            resideInAPackage("org.sparkcollectives..")
                .and(
                    not(
                        resideInAnyPackage(
                            "org.sparkcollectives",
                            "org.sparkcollectives.store",
                            "org.sparkcollectives.config",
                            "org.sparkcollectives.net"))))
        .check(LIBRARY);
  }

  @Test
  void nothingPublicInCollectivesNeedsInternalCode() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "org.sparkcollectives",
            "org.sparkcollectives.spi..",
            "org.sparkcollectives.object",
            "org.sparkcollectives.recorder",
            "org.sparkcollectives.store",
            "org.sparkcollectives.config",
            "org.sparkcollectives.net")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(IMPLEMENTATION_OF_CORE)
        .check(LIBRARY);
  }

  @Test
  void theSettingsOfThePluginNeedNothingElseOfIt() {
    noClasses()
        .that()
        .resideInAPackage(PLUGIN + ".config")
        .should()
        .dependOnClassesThat(
            resideInAPackage(PLUGIN + "..").and(not(resideInAPackage(PLUGIN + ".config"))))
        .check(LIBRARY);
  }

  @Test
  void theInternalCodeOfThePluginDoesNotNeedItsApi() {
    noClasses()
        .that()
        .resideInAPackage(PLUGIN + ".internal..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(PLUGIN)
        .check(LIBRARY);
  }

  @Test
  void driverAndExecutorsShareTheirProtocolOnly() {
    noClasses()
        .that()
        .resideInAPackage(PLUGIN + ".internal.driver")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(PLUGIN + ".internal.executor", PLUGIN + ".internal.python")
        .check(LIBRARY);
    noClasses()
        .that()
        .resideInAnyPackage(PLUGIN + ".internal.executor", PLUGIN + ".internal.python")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(PLUGIN + ".internal.driver")
        .check(LIBRARY);
  }

  @Test
  void thePackageThatSparkUsersImportHasPublicTypesOnly() {
    classes()
        .that()
        .resideInAPackage(PLUGIN)
        .and()
        .areTopLevelClasses()
        .and()
        .doNotHaveSimpleName("package-info")
        .should()
        .bePublic()
        .check(LIBRARY);
  }

  /** The examples need the plugin, and are not seen from here: ExampleSourcesTest checks them. */
  @Test
  void noModuleUsesTheInternalCodeOfAnother() {
    noClasses()
        .that()
        .resideInAnyPackage(PLUGIN + "..", "org.sparkcollectives.gpu..")
        .or()
        .resideInAnyPackage(TRAINING)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(IMPLEMENTATION_OF_CORE)
        .check(LIBRARY);
    noClasses()
        .that()
        .resideOutsideOfPackage(PLUGIN + "..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(PLUGIN + "..")
        .check(LIBRARY);
    noClasses()
        .that()
        .resideOutsideOfPackage("org.sparkcollectives.gpu..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.sparkcollectives.gpu..")
        .check(LIBRARY);
  }

  @Test
  void workNeedsWhatEndsGroupsAndThatWhatObservesRanks() {
    String internal = "org.sparkcollectives.internal.";
    noClasses()
        .that()
        .resideInAPackage(internal + "liveness")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(internal + "failure", internal + "work")
        .check(LIBRARY);
    noClasses()
        .that()
        .resideInAPackage(internal + "failure")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(internal + "work")
        .check(LIBRARY);
  }

  @Test
  void nothingBelowKnowsOfTraining() {
    noClasses()
        .that()
        .resideOutsideOfPackages(TRAINING)
        .and()
        // What replicas do with their group is above both.
        .resideOutsideOfPackage(PLUGIN + ".elastic")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(TRAINING)
        .check(LIBRARY);
  }

  @Test
  void noPublicSignatureNamesAnInternalType() {
    classes()
        .that(modifier(JavaModifier.PUBLIC))
        .and()
        .resideOutsideOfPackage("..internal..")
        .should(nameNoInternalType())
        .check(LIBRARY);
  }

  private static SliceAssignment packages() {
    return new SliceAssignment() {
      @Override
      public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
        return SliceIdentifier.of(javaClass.getPackageName());
      }

      @Override
      public String getDescription() {
        return "the packages";
      }
    };
  }

  private static ArchCondition<JavaClass> nameNoInternalType() {
    DescribedPredicate<JavaClass> internal = resideInAPackage("..internal..");
    return new ArchCondition<>("name no internal type in a signature that others see") {
      @Override
      public void check(JavaClass item, ConditionEvents events) {
        Stream<JavaClass> supertypes =
            Stream.concat(item.getRawInterfaces().stream(), item.getRawSuperclass().stream());
        supertypes.filter(internal).forEach(each -> report(item, item.getName(), each, events));
        for (JavaCodeUnit each : item.getCodeUnits()) {
          if (each.getModifiers().contains(JavaModifier.PUBLIC)
              || each.getModifiers().contains(JavaModifier.PROTECTED)) {
            Stream.concat(each.getRawParameterTypes().stream(), Stream.of(each.getRawReturnType()))
                .filter(internal)
                .forEach(type -> report(item, each.getFullName(), type, events));
          }
        }
      }
    };
  }

  private static void report(
      JavaClass owner, String where, JavaClass named, ConditionEvents events) {
    events.add(SimpleConditionEvent.violated(owner, where + " names " + named.getName()));
  }

  /** Two files may need each other, as an interface and the type that its methods return. */
  @Test
  void noMoreThanTwoFilesFormACircle() {
    Map<String, Set<String>> needs = needsOfFiles();
    Map<String, Set<String>> reached = new HashMap<>();
    needs.keySet().forEach(file -> reached.put(file, reachableFrom(file, needs)));
    Set<Set<String>> circles =
        needs.keySet().stream()
            .map(file -> circleOf(file, reached))
            .filter(circle -> circle.size() > 2)
            .collect(Collectors.toSet());

    assertThat(circles)
        .containsExactlyInAnyOrder(
            // A sealed class and its two kinds, which copy from each other, and its interface.
            filesOf("spi.tensor", "TensorView", "HostTensor", "HeapTensor", "DirectTensor"),
            // The peers of each level of a hierarchy have stripes, an order by rack, and a
            // hierarchy
            // of their own.
            filesOf(
                "internal.transport",
                "Peers",
                "PeerSubset",
                "Hierarchy",
                "RackOrder",
                "Stripes",
                "StripeSubset"));
  }

  private static Set<String> filesOf(String folder, String... names) {
    return Arrays.stream(names)
        .map(name -> "org.sparkcollectives." + folder + "." + name)
        .collect(Collectors.toSet());
  }

  /** Returns the files of all modules, by the names of their types, and which each needs. */
  private static Map<String, Set<String>> needsOfFiles() {
    Map<String, Set<String>> needs = new HashMap<>();
    for (JavaClass each : LIBRARY) {
      Set<String> own = needs.computeIfAbsent(file(each), file -> new HashSet<>());
      each.getDirectDependenciesFromSelf().stream()
          .map(dependency -> dependency.getTargetClass().getBaseComponentType())
          .filter(resideInAPackage("org.sparkcollectives.."))
          .forEach(target -> own.add(file(target)));
    }
    return needs;
  }

  private static String file(JavaClass each) {
    return each.getName().replaceAll("\\$.*", "");
  }

  /**
   * Returns the files that need this one and that it needs, directly or not; empty if it is in no
   * circle.
   */
  private static Set<String> circleOf(String file, Map<String, Set<String>> reached) {
    return reached.get(file).stream()
        .filter(each -> reached.get(each).contains(file))
        .collect(Collectors.toSet());
  }

  private static Set<String> reachableFrom(String file, Map<String, Set<String>> needs) {
    Set<String> reached = new HashSet<>();
    Deque<String> next = new ArrayDeque<>(List.of(file));
    while (!next.isEmpty()) {
      for (String each : needs.get(next.pop())) {
        if (reached.add(each)) {
          next.push(each);
        }
      }
    }
    return reached;
  }
}
