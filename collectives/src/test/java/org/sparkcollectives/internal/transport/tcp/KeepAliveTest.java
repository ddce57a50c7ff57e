package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioChannelOption;
import java.net.SocketOption;
import java.time.Duration;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the keep-alive options that sockets get. */
@EnabledOnOs(OS.LINUX)
class KeepAliveTest {

  private static int option(Channel channel, SocketOption<Integer> option) {
    return channel.config().getOption(NioChannelOption.of(option));
  }

  @Test
  void aSocketOfOurOwnAsksInTheSecondHalfOfTheTime() {
    DirectSocketChannel channel = new DirectSocketChannel(new SegmentPool(SegmentPool.SMALL_BYTES));
    try {
      KeepAlive.on(channel, Duration.ofSeconds(20));
      assertThat(channel.config().getOption(ChannelOption.SO_KEEPALIVE)).isTrue();
      assertThat(option(channel, ExtendedSocketOptions.TCP_KEEPIDLE)).isEqualTo(10);
      assertThat(option(channel, ExtendedSocketOptions.TCP_KEEPINTERVAL)).isEqualTo(2);
      assertThat(option(channel, ExtendedSocketOptions.TCP_KEEPCOUNT)).isEqualTo(5);
    } finally {
      channel.unsafe().closeForcibly();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 5, 7, 10, 13, 27, 60, 299, 3600})
  void theTimeIsKeptToTheSecond(int seconds) {
    DirectSocketChannel channel = new DirectSocketChannel(new SegmentPool(SegmentPool.SMALL_BYTES));
    try {
      KeepAlive.on(channel, Duration.ofSeconds(seconds));
      assertThat(
              option(channel, ExtendedSocketOptions.TCP_KEEPIDLE)
                  + option(channel, ExtendedSocketOptions.TCP_KEEPINTERVAL)
                      * option(channel, ExtendedSocketOptions.TCP_KEEPCOUNT))
          .isEqualTo(seconds);
    } finally {
      channel.unsafe().closeForcibly();
    }
  }

  @Test
  void aTimeThatIsTooShortForTheSystemIsTheShortestItHas() {
    DirectSocketChannel channel = new DirectSocketChannel(new SegmentPool(SegmentPool.SMALL_BYTES));
    try {
      KeepAlive.on(channel, Duration.ofMillis(300));
      assertThat(option(channel, ExtendedSocketOptions.TCP_KEEPIDLE)).isEqualTo(1);
      assertThat(option(channel, ExtendedSocketOptions.TCP_KEEPINTERVAL)).isEqualTo(1);
    } finally {
      channel.unsafe().closeForcibly();
    }
  }

  @Test
  void noTimeLeavesTheSocketAsItIs() {
    DirectSocketChannel channel = new DirectSocketChannel(new SegmentPool(SegmentPool.SMALL_BYTES));
    try {
      KeepAlive.on(channel, Duration.ZERO);
      assertThat(channel.config().getOption(ChannelOption.SO_KEEPALIVE)).isFalse();
    } finally {
      channel.unsafe().closeForcibly();
    }
  }
}
