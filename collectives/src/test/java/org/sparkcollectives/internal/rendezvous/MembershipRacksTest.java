package org.sparkcollectives.internal.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.Place;

/** Tests what a group makes of the racks that its ranks name. */
class MembershipRacksTest {

  /** A group whose ranks are each on a host and in a rack, as in {@code "a/1"}. */
  private static Membership group(String... hostsAndRacks) {
    List<Endpoint> endpoints = new ArrayList<>();
    for (int rank = 0; rank < hostsAndRacks.length; rank++) {
      String[] names = hostsAndRacks[rank].split("/", -1);
      Place place = new Place(names[0], 4, true, names[1]);
      endpoints.add(
          new Endpoint(rank, new NodeAddress("node-" + rank, place, "10.0.0.1", 7000, "1"), -1));
    }
    EndpointTable table =
        new EndpointTable("secret".getBytes(StandardCharsets.UTF_8), List.copyOf(endpoints));
    // As every rank reads it.
    EndpointTable read = EndpointTable.decode(table.encode());
    return new Membership("g", "", 0, read.endpoints(), read.secret());
  }

  private static List<Integer> numbers(Membership members) {
    Locality racks = members.racks().orElseThrow();
    List<Integer> numbers = new ArrayList<>();
    for (int rank = 0; rank < racks.size(); rank++) {
      numbers.add(racks.node(rank));
    }
    return numbers;
  }

  @Test
  void theRacksOfHostsArePublishedWithTheEndpoints() {
    Membership members = group("a/1", "b/2", "c/1", "b/2");
    assertThat(numbers(members)).containsExactly(0, 1, 0, 1);
    assertThat(members.layout()).isEqualTo("group \"g\": 4 ranks, 4 JVMs, 3 hosts, 2 racks");
  }

  @Test
  void thereAreNoRacksWhereOneIsUnknown() {
    Membership members = group("a/1", "b/2", "c/", "d/2");
    assertThat(members.racks()).isEmpty();
    assertThat(members.layout()).isEqualTo("group \"g\": 4 ranks, 4 JVMs, 4 hosts");
  }

  @Test
  void thereAreNoRacksWhereAllAreInOneOrEachHostHasItsOwn() {
    assertThat(group("a/1", "b/1", "c/1").racks()).isEmpty();
    assertThat(group("a/1", "a/1", "b/2", "b/2").racks()).isEmpty();
  }

  @Test
  void theFirstRankOfAHostDecidesWhereRanksDiffer() {
    assertThat(numbers(group("a/1", "a/2", "b/2", "c/2"))).containsExactly(0, 0, 1, 1);
  }
}
