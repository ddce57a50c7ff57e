package org.sparkcollectives.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that nothing that holds a secret shows it as text, in all modules on the class path. */
class SecretsInTextTest {

  private static final Pattern SECRET =
      Pattern.compile("secret|password|token|credential", Pattern.CASE_INSENSITIVE);
  private static final String MARKER = "must-not-be-seen";

  private static final JavaClasses LIBRARY =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("org.sparkcollectives");

  private static boolean holdsSecret(JavaClass each) {
    return each.getFields().stream().anyMatch(SecretsInTextTest::isSecret);
  }

  private static boolean isSecret(JavaField field) {
    return SECRET.matcher(field.getName()).find()
        && field.getRawType().isAssignableTo(String.class)
        && !field.getModifiers().contains(JavaModifier.STATIC);
  }

  private static List<JavaClass> holders() {
    return LIBRARY.stream().filter(SecretsInTextTest::holdsSecret).toList();
  }

  @Test
  void theHoldersAreFound() {
    assertThat(holders()).extracting(JavaClass::getSimpleName).contains("Address", "SecretFile");
  }

  @Test
  void noRecordShowsItsSecret() {
    assertThat(holders())
        .filteredOn(JavaClass::isRecord)
        .allSatisfy(each -> assertThat(withMarkers(each.reflect())).doesNotContain(MARKER));
  }

  /** Returns the text of a record whose secrets are the marker. */
  private static String withMarkers(Class<?> type) throws ReflectiveOperationException {
    RecordComponent[] components = type.getRecordComponents();
    Class<?>[] types =
        Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    Constructor<?> constructor = type.getDeclaredConstructor(types);
    constructor.setAccessible(true);
    Object[] values = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      boolean secret = SECRET.matcher(components[i].getName()).find();
      values[i] = secret && types[i] == String.class ? MARKER : value(types[i]);
    }
    return constructor.newInstance(values).toString();
  }

  private static Object value(Class<?> type) {
    if (type == Path.class) {
      return Path.of("file");
    }
    return Array.get(Array.newInstance(type, 1), 0);
  }

  @Test
  void noOtherClassWithASecretHasATextOfItsOwn() {
    assertThat(holders())
        .filteredOn(each -> !each.isRecord())
        .allSatisfy(
            each -> assertThat(each.tryGetMethod("toString")).as(each.getFullName()).isEmpty());
  }
}
