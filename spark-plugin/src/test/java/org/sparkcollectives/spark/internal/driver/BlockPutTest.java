package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Tests calls of {@code putBytes} as different versions of Spark have it. */
class BlockPutTest {

  /** As until Spark 4.2. */
  public static final class Before {
    String called;

    /** Keeps what it is called with. */
    public boolean putBytes(String id, String bytes, String level, boolean tell, String tag)
        throws IOException {
      if (bytes.isEmpty()) {
        throw new IOException("disk full");
      }
      called = id + bytes + level + tell + tag;
      return true;
    }

    /** As Scala makes it for a default argument. */
    public boolean putBytes$default$4() {
      return false;
    }
  }

  /** As from Spark 4.3 on. */
  public static final class Since {
    String called;

    /** Keeps what it is called with. */
    public boolean putBytes(
        String id, String bytes, String level, boolean tell, String sum, boolean own, String tag) {
      called = id + bytes + level + tell + sum + own + tag;
      return false;
    }

    /** As Scala makes it for a default argument. */
    public String putBytes$default$5() {
      return "none";
    }

    /** As Scala makes it for a default argument. */
    public boolean putBytes$default$6() {
      return false;
    }
  }

  @Test
  void theMethodUntilSpark42IsCalled() throws Exception {
    Before manager = new Before();
    assertThat(BlockPut.of(manager).put("id ", "bytes ", "level ", true, " tag")).isTrue();
    assertThat(manager.called).isEqualTo("id bytes level true tag");
  }

  @Test
  void theMethodFromSpark43OnIsCalledWithScalasDefaults() throws Exception {
    Since manager = new Since();
    assertThat(BlockPut.of(manager).put("id ", "bytes ", "level ", true, " tag")).isFalse();
    assertThat(manager.called).isEqualTo("id bytes level truenonefalse tag");
  }

  @Test
  void whatTheBlockManagerThrowsIsThrown() {
    assertThatThrownBy(() -> BlockPut.of(new Before()).put("id", "", "level", true, "tag"))
        .isInstanceOf(IOException.class)
        .hasMessage("disk full");
  }

  @Test
  void anotherBlockManagerIsRefused() {
    assertThatThrownBy(() -> BlockPut.of("no manager"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("putBytes");
  }
}
