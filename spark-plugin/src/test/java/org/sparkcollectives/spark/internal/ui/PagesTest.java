package org.sparkcollectives.spark.internal.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.apache.spark.SparkConf;
import org.apache.spark.util.kvstore.InMemoryStore;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spark.event.ComparedOperation;
import org.sparkcollectives.spark.event.GroupEnded;
import org.sparkcollectives.spark.event.GroupFailed;
import org.sparkcollectives.spark.event.GroupMade;
import org.sparkcollectives.spark.event.GroupSums;
import org.sparkcollectives.spark.event.LibraryStarted;
import org.sparkcollectives.spark.event.OperationSums;
import org.sparkcollectives.spark.event.QuorumFormed;
import org.sparkcollectives.spark.event.RankPlace;
import org.sparkcollectives.spark.event.RankSums;
import org.sparkcollectives.spark.event.ReplicaPlace;
import org.sparkcollectives.spark.event.RunEnded;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** Tests the HTML of the pages, which is XML as well. */
class PagesTest {

  private static final String NAME = "world <0> & \"co\" 'x'";

  private final GroupStore store = new GroupStore(new InMemoryStore());
  private final GroupListener listener = new GroupListener(store, 10);
  private final GroupPage page = new GroupPage(null, store);
  private final RunPage run = new RunPage(null, store);
  private final GroupsPage list = new GroupsPage(null, store);

  private void fill() {
    listener.onOtherEvent(
        new LibraryStarted(1, "0.1.0", "4.2.0", Map.of("spark.collectives.timeout", "<30min>")));
    RankPlace first = new RankPlace(0, "host-a<", "1&", 0, 1, 0);
    listener.onOtherEvent(
        new GroupMade(7, NAME, 1000, 3, 1, 2, List.of(first, new RankPlace(1, "b", "2", 0, 1, 0))));
    GroupSums sums =
        new GroupSums(
            2000,
            1,
            2 << 20,
            2,
            90_000,
            64,
            0.25,
            10_000,
            10_000,
            List.of(
                new OperationSums(
                    "ALL_REDUCE", 10, "ring<", 2000, 2 << 20, 1e-3, 2e-3, 1.5e9, 64, 5e-4)),
            List.of(
                new RankSums(0, 1000, 1 << 20, 0, 0, -0.2, false, 6000, 4000),
                new RankSums(1, 1000, 1 << 20, 64, 2000, 0.5, true, 4000, 6000)),
            Map.of("done", 3.0, "total", 10.0, "<rate>", 0.25),
            "<loss> 0.5",
            List.of(
                new ComparedOperation(998, "ALL_REDUCE<", 1e-3, 5e-4, 1),
                new ComparedOperation(999, "BARRIER", 0, 0, 0)));
    listener.onOtherEvent(
        new GroupFailed(
            7, NAME, 5000, 1, "b<", "2", "EXCEPTION", "<script>alert(1)</script>", "/d<", "late<"));
    listener.onOtherEvent(new GroupEnded(7, NAME, 11_000, true, sums));
    ReplicaPlace zero = new ReplicaPlace(0, 20, "a<", "1<", 0);
    ReplicaPlace one = new ReplicaPlace(1, 21, "b", "2", 1);
    ReplicaPlace again = new ReplicaPlace(1, 22, "b", "3", 0);
    listener.onOtherEvent(new QuorumFormed(5, 1000, 1, 0, false, 0, 0, 2, List.of(zero, one)));
    listener.onOtherEvent(new QuorumFormed(5, 2000, 2, 40, false, 1, 0, 1, List.of(zero)));
    listener.onOtherEvent(new QuorumFormed(5, 3000, 3, 50, true, 1, 1, 2, List.of(zero, again)));
    listener.onOtherEvent(new RunEnded(5, 4000, "<script>alert(2)</script>"));
  }

  private static Document parsed(String html) {
    try {
      return DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .parse(new InputSource(new StringReader("<body>" + html + "</body>")));
    } catch (Exception e) {
      throw new AssertionError("not well formed: " + html, e);
    }
  }

  private static String text(Document page) {
    return page.getDocumentElement().getTextContent();
  }

  /** Returns the cells of a table's row as texts; row 0 has the names of the columns. */
  private static List<String> row(Document page, String table, int row) {
    NodeList tables = page.getElementsByTagName("table");
    for (int i = 0; i < tables.getLength(); i++) {
      Element each = (Element) tables.item(i);
      if (each.getAttribute("id").equals(table)) {
        Element found = (Element) each.getElementsByTagName("tr").item(row);
        NodeList cells = found.getElementsByTagName(row == 0 ? "th" : "td");
        return java.util.stream.IntStream.range(0, cells.getLength())
            .mapToObj(cell -> cells.item(cell).getTextContent())
            .toList();
      }
    }
    throw new AssertionError("no table " + table);
  }

  private String run() {
    return run.html(Map.of("id", "5")::get);
  }

  private String group() {
    return page.html(Map.of("id", "7")::get);
  }

  @Test
  void theListShowsAGroup() {
    fill();
    Document html = parsed(list.html(name -> null));
    assertThat(row(html, "collectives-groups", 0))
        .containsSequence("Group", "Stage", "Ranks", "Hosts", "Paths", "State");
    assertThat(row(html, "collectives-groups", 1))
        .startsWith(NAME, "3.1", "2", "2", "shm 1", "failed")
        .endsWith("4 s", "1,000", "2 MiB", "50 %", "25 %");
    assertThat(row(html, "collectives-settings", 1))
        .containsExactly("spark.collectives.timeout", "<30min>");
    assertThat(list.html(name -> null))
        .contains("href=\"group/?id=7\"")
        .contains("href=\"../stages/stage/?id=3&amp;attempt=1\"");
  }

  @Test
  void theListOfNoGroupsSaysSo() {
    assertThat(text(parsed(list.html(name -> null))))
        .contains("No barrier stage has made a group yet.");
  }

  @Test
  void thePageOfAGroupShowsRanksOperationsAndTheFailure() {
    fill();
    Document html = parsed(group());
    assertThat(row(html, "collectives-ranks", 1))
        .containsExactly(
            "0",
            "1&",
            "host-a<",
            "shm 1",
            "0 %",
            "0 s",
            "−20 %",
            "6 s, 60 %",
            "4 s",
            "1,000",
            "1 MiB");
    assertThat(row(html, "collectives-ranks", 2))
        .startsWith("1 slow", "2", "b", "shm 1", "100 %", "2 s", "+50 %");
    assertThat(row(html, "collectives-operations", 1))
        .containsExactly(
            "ALL_REDUCE",
            "1 KiB – 2 KiB",
            "ring<",
            "1,000",
            "2 MiB",
            "1.5 GB/s",
            "1 ms",
            "2 ms",
            "500 µs");
    assertThat(text(html))
        .contains("Rank 1 (b<, executor 2) failed, at")
        .contains("<script>alert(1)</script>")
        .contains("/d<")
        .contains("late<")
        .contains("Progress: 3 of 10, 30 %: <loss> 0.5")
        .contains("<rate>: 0.25")
        .contains("ALL_REDUCE< #998: 1 ms at work, 500 µs waiting for rank 1");
    assertThat(html.getElementsByTagName("svg").getLength()).isGreaterThan(0);
    assertThat(html.getElementsByTagName("rect").getLength()).isGreaterThanOrEqualTo(3);
  }

  @Test
  void theListShowsAnElasticStage() {
    assertThat(list.html(name -> null)).doesNotContain("Elastic stages");
    fill();
    Document html = parsed(list.html(name -> null));
    assertThat(row(html, "collectives-runs", 1))
        .startsWith("5", "failed", "2", "3", "50", "1", "1")
        .endsWith("3 s");
    assertThat(list.html(name -> null)).contains("href=\"run/?id=5\"");
  }

  @Test
  void thePageOfAnElasticStageShowsWhoJoinedWhoLeftAndWhoHealed() {
    fill();
    Document html = parsed(run());
    assertThat(row(html, "collectives-quorums", 1))
        .startsWith("3")
        .endsWith(
            "50",
            "0 (executor 1<), 1 (executor 3)",
            "1 (executor 3)",
            "–",
            "a checkpoint, by 0 to 1",
            "1");
    assertThat(row(html, "collectives-quorums", 2))
        .endsWith("40", "0 (executor 1<)", "–", "1 (executor 2)", "–", "1");
    assertThat(text(html)).contains("failed, since").contains("<script>alert(2)</script>");
    assertThat(run.title(Map.of("id", "5")::get)).isEqualTo("Elastic stage, run 5");
    assertThat(SparkJson.text(run.json(Map.of("id", "5")::get)))
        .contains("\"quorum\":3")
        .contains("\"executor\":\"3\"");
  }

  @Test
  void aRunThatIsNotThereIsNoError() {
    fill();
    for (String id : List.of("8", "x", "-1")) {
      assertThat(text(parsed(run.html(Map.of("id", id)::get)))).contains("There is no such run");
      assertThat(run.title(Map.of("id", id)::get)).isEqualTo("Elastic stage");
    }
  }

  @Test
  void nothingThatAnEventSaysIsMarkup() {
    fill();
    for (String html : List.of(group(), run(), list.html(name -> null))) {
      assertThat(html).doesNotContain("<script").doesNotContain("<0>").doesNotContain("\"co\"");
      assertThat(parsed(html).getElementsByTagName("script").getLength()).isZero();
    }
  }

  @Test
  void thePagesNeedNoScriptAndNothingFromElsewhere() {
    fill();
    for (String html : List.of(group(), run(), list.html(name -> null))) {
      assertThat(html)
          .doesNotContainPattern("\\son[a-z]+=")
          .doesNotContain("javascript:")
          .doesNotContain("http:")
          .doesNotContain("https:")
          .doesNotContain("<form");
      assertThat(html).contains("sortable");
    }
  }

  /** Spark's script drops all but digits, points and signs: of 5.0E-4 it would make 5.0. */
  @Test
  void tablesAreSortedByNumbersThatSparksScriptReads() {
    fill();
    Pattern key = Pattern.compile("sorttable_customkey=\"([^\"]*)\"");
    List<String> keys = new ArrayList<>();
    for (String html : List.of(group(), run(), list.html(name -> null))) {
      key.matcher(html).results().forEach(each -> keys.add(each.group(1)));
    }
    assertThat(keys).contains("0.0005", "1500000000");
    assertThat(keys).allSatisfy(each -> assertThat(each).matches("-?[0-9]+([.][0-9]+)?"));
  }

  @Test
  void aGroupThatIsNotThereIsNoError() {
    fill();
    for (String id : List.of("8", "x", "-1", "99999999999999999999")) {
      assertThat(text(parsed(page.html(Map.of("id", id)::get))))
          .contains("There is no such group")
          .contains("more than 1000 after it");
      assertThat(page.title(Map.of("id", id)::get)).isEqualTo("Group");
    }
    assertThat(page.html(name -> null)).contains("There is no such group");
  }

  @Test
  void theJsonHasWhatThePageShows() {
    fill();
    String groups = SparkJson.text(list.json(name -> null));
    assertThat(groups).contains("\"id\":7").contains("\"state\":\"FAILED\"").contains("<30min>");
    String details = SparkJson.text(page.json(Map.of("id", "7")::get));
    assertThat(details).contains("\"lastArrivals\":64").contains("\"kind\":\"EXCEPTION\"");
    assertThat(SparkJson.text(page.json(name -> null)))
        .isEqualTo("{\"group\":null,\"details\":null}");
  }

  @Test
  void secretsAreNotShown() {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.collectives.rendezvous.secret", "abc")
            .set("spark.collectives.timeout", "5s")
            .set("spark.other", "1");
    assertThat(CollectivesUi.settings(conf))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "spark.collectives.rendezvous.secret",
                LibraryStarted.REDACTED,
                "spark.collectives.timeout",
                "5s"));
  }

  @Test
  void figuresAreForPeople() {
    assertThat(Format.bytes(0)).isEqualTo("0 B");
    assertThat(Format.bytes(1536)).isEqualTo("1.5 KiB");
    assertThat(Format.bytes(Long.MAX_VALUE)).isEqualTo("8 EiB");
    assertThat(Format.seconds(0)).isEqualTo("0 s");
    assertThat(Format.seconds(1.5e-7)).isEqualTo("150 ns");
    assertThat(Format.seconds(2.5e-5)).isEqualTo("25 µs");
    assertThat(Format.seconds(0.0123)).isEqualTo("12.3 ms");
    assertThat(Format.seconds(61)).isEqualTo("1 min 1 s");
    assertThat(Format.seconds(7260)).isEqualTo("2 h 1 min");
    assertThat(Format.rate(0.5e6)).isEqualTo("500 kB/s");
    assertThat(Format.share(0.004)).isEqualTo("0.4 %");
    assertThat(Format.share(1)).isEqualTo("100 %");
    assertThat(GroupTexts.sizeClass(-1)).isEqualTo("–");
    assertThat(GroupTexts.sizeClass(62)).isEqualTo("4 EiB and more");
  }
}
