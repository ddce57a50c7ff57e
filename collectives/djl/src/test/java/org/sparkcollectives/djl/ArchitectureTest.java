package org.sparkcollectives.djl;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Tests what this module depends on. */
class ArchitectureTest {

  private static final String OWN = "org.sparkcollectives.djl";

  private static final JavaClasses MODULE =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(OWN);

  @Test
  void theModuleIsLookedAt() {
    assertThat(MODULE.stream().map(JavaClass::getSimpleName))
        .contains("CollectiveOptimizer", "PyTorchAutograd")
        .doesNotContain("ArchitectureTest");
  }

  @Test
  void itNeedsTheApiOfDjlOfTheCoreAndOfTrainingAndNoEngine() {
    classes()
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(
                OWN,
                "java..",
                "org.sparkcollectives",
                "org.sparkcollectives.ddp",
                "org.sparkcollectives.object",
                "ai.djl",
                "ai.djl.engine",
                "ai.djl.ndarray..",
                "ai.djl.nn",
                "ai.djl.training..",
                "ai.djl.util"))
        .check(MODULE);
  }
}
