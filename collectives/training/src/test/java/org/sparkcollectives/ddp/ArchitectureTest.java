package org.sparkcollectives.ddp;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Tests what the packages of training depend on. */
class ArchitectureTest {

  private static final String DDP = "org.sparkcollectives.ddp";
  private static final String ZERO = "org.sparkcollectives.zero";
  private static final String JOIN = "org.sparkcollectives.join";
  private static final String AVERAGING = "org.sparkcollectives.averaging";

  private static final JavaClasses MODULE =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(DDP, ZERO, JOIN, AVERAGING);

  @Test
  void allPackagesAreLookedAt() {
    assertThat(MODULE.stream().map(JavaClass::getSimpleName))
        .contains("GradientReducer", "ZeroRedundancyOptimizer", "Join", "PeriodicModelAverager")
        .doesNotContain("ArchitectureTest");
  }

  @Test
  void theyNeedTheApiOfTheCoreAndNothingInternal() {
    classes()
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(
                "java..",
                "org.slf4j",
                DDP,
                ZERO,
                JOIN,
                AVERAGING,
                "org.sparkcollectives",
                "org.sparkcollectives.net",
                "org.sparkcollectives.spi",
                "org.sparkcollectives.spi.tensor",
                "org.sparkcollectives.store"))
        .check(MODULE);
  }

  /** In this order: averaging, zero, ddp, join. */
  @Test
  void theirArrowsPointDownward() {
    noClasses()
        .that()
        .resideInAnyPackage(ZERO, DDP, JOIN)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(AVERAGING)
        .check(MODULE);
    noClasses()
        .that()
        .resideInAnyPackage(DDP, JOIN)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(ZERO)
        .check(MODULE);
    noClasses()
        .that()
        .resideInAPackage(JOIN)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(DDP)
        .check(MODULE);
  }
}
