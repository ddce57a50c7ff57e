package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the bytes of {@code ncclConfig_t} against the layout in nccl.h of 2.28.9. */
class NcclSettingsTest {

  private static final int UNDEFINED = Integer.MIN_VALUE;

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void eachFieldIsWhereNcclLooksForIt(boolean blocking) {
    ByteBuffer config = new NcclSettings(blocking).encode();
    assertThat(config.isDirect()).isTrue();
    assertThat(config.order()).isEqualTo(ByteOrder.nativeOrder());
    assertThat(config.capacity()).isEqualTo(80);
    assertThat(config.getLong(0)).as("size").isEqualTo(80);
    assertThat(config.getInt(8)).as("magic").isEqualTo(0xcafebeef);
    assertThat(config.getInt(12)).as("version").isEqualTo(22809);
    assertThat(config.getInt(16)).as("blocking").isEqualTo(blocking ? 1 : 0);
    for (int at : new int[] {20, 24, 28}) {
      assertThat(config.getInt(at)).as("CTAs and their clusters").isEqualTo(UNDEFINED);
    }
    assertThat(config.getLong(32)).as("netName").isZero();
    assertThat(config.getInt(40)).as("splitShare").isZero();
    assertThat(config.getInt(44)).as("trafficClass").isEqualTo(UNDEFINED);
    assertThat(config.getLong(48)).as("commName").isZero();
    assertThat(config.getInt(56)).as("collnetEnable").isEqualTo(UNDEFINED);
    assertThat(config.getInt(60)).as("CTAPolicy").isEqualTo(UNDEFINED);
    assertThat(config.getInt(64)).as("shrinkShare").isZero();
    for (int at : new int[] {68, 72, 76}) {
      assertThat(config.getInt(at)).as("what follows").isEqualTo(UNDEFINED);
    }
  }
}
