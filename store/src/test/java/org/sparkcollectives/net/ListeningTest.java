package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.LeakCheck;

@ExtendWith(LeakCheck.class)
class ListeningTest {

  private final EventLoops loops = EventLoops.open("listening-test", 1);

  @AfterEach
  void end() {
    loops.close();
  }

  private Channel bind(String host, int port, int retries) throws BindException {
    return Listening.bind(
        new ServerBootstrap()
            .group(loops.group())
            .channel(loops.serverChannelType())
            .childHandler(new ChannelInboundHandlerAdapter()),
        host,
        port,
        retries,
        exhausted -> {});
  }

  private static int port(Channel channel) {
    return ((InetSocketAddress) channel.localAddress()).getPort();
  }

  @Test
  void aPortInUseIsNamedOrPassedOver() throws Exception {
    int taken = port(bind("127.0.0.1", 0, 0));
    assertThatThrownBy(() -> bind("127.0.0.1", taken, 0))
        .isInstanceOf(BindException.class)
        .hasMessageContaining("127.0.0.1 port " + taken)
        .hasMessageContaining("in use");
    // Other programs of this machine may hold the ports after it, so no certain port is expected.
    assertThat(port(bind("127.0.0.1", taken, 1000))).isBetween(taken + 1, taken + 1000);
  }

  @Test
  void aLackOfFileDescriptorsIsNamedAndNotThePort() {
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loops.group())
            .channelFactory(
                () -> {
                  throw new ChannelException(
                      "Failed to open a socket.", new SocketException("Too many open files"));
                })
            .childHandler(new ChannelInboundHandlerAdapter());
    assertThatThrownBy(() -> Listening.bind(bootstrap, "127.0.0.1", 0, 3, exhausted -> {}))
        .isInstanceOf(DescriptorsExhaustedException.class)
        .hasMessageContaining("no file descriptors left");
  }

  @Test
  void anAddressOfAnotherMachineIsNotTriedOnEveryPort() {
    assertThatThrownBy(() -> bind("192.0.2.1", 20_000, 30_000))
        .isInstanceOf(BindException.class)
        .hasMessageContaining("192.0.2.1")
        .hasMessageContaining("not an address of this machine");
    assertThatThrownBy(() -> bind("no-such-host.invalid", 0, 0))
        .isInstanceOf(BindException.class)
        .hasMessageContaining("no host of this name");
  }
}
