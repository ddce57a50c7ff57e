package org.sparkcollectives.lightgbm;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Tests what this module depends on, and what it shows. */
class ArchitectureTest {

  private static final String OWN = "org.sparkcollectives.lightgbm";

  private static final JavaClasses MODULE =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(OWN);

  /** One package, whose implementation no other can see: nothing can form a circle. */
  @Test
  void theModuleIsOnePackageWithItsApiAlonePublic() {
    assertThat(MODULE.stream().map(JavaClass::getPackageName)).containsOnly(OWN);
    assertThat(
            MODULE.stream()
                .filter(JavaClass::isTopLevelClass)
                .filter(each -> each.getModifiers().contains(JavaModifier.PUBLIC))
                .map(JavaClass::getSimpleName))
        .containsExactlyInAnyOrder(
            "LightGbm", "LightGbmColumns", "LightGbmException", "LightGbmModel", "TrainingRows");
  }

  @Test
  void noInternalCodeOfOtherModulesIsUsed() {
    noClasses()
        .should()
        .dependOnClassesThat(resideInAPackage("org.sparkcollectives..internal.."))
        .check(MODULE);
  }
}
