package org.sparkcollectives.ml;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import org.junit.jupiter.api.Test;

/** Tests the dependencies between packages of this module, and on those of others. */
class ArchitectureTest {

  private static final String OWN = "org.sparkcollectives.ml";

  private static final JavaClasses MODULE =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(OWN);

  @Test
  void theModuleIsLookedAt() {
    assertThat(MODULE.stream().map(JavaClass::getPackageName))
        .contains(OWN + ".connect", OWN + ".internal.stage")
        .allMatch(name -> name.startsWith(OWN));
  }

  @Test
  void noPackagesFormACircle() {
    SlicesRuleDefinition.slices().matching(OWN + ".(**)").should().beFreeOfCycles().check(MODULE);
  }

  @Test
  void onlyTheBackendNeedsSparkConnectWhichSpark35DoesNotHave() {
    noClasses()
        .that()
        .resideOutsideOfPackage(OWN + ".connect")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.spark.sql.connect..", OWN + ".connect")
        .check(MODULE);
  }

  @Test
  void noInternalCodeOfOtherModulesIsUsed() {
    noClasses()
        .should()
        .dependOnClassesThat(
            resideInAPackage("org.sparkcollectives..internal..")
                .and(resideOutsideOfPackage(OWN + "..")))
        .check(MODULE);
  }

  @Test
  void theImplementationKnowsNoEstimatorOfOurs() {
    noClasses()
        .that()
        .resideInAPackage(OWN + ".internal..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(OWN + ".classification..", OWN + ".clustering..", OWN + ".regression..")
        .check(MODULE);
  }
}
