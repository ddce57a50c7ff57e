package org.sparkcollectives.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;

class OperationSpecTest {

  private final Tensor matrix = Tensor.allocate(DType.FLOAT32, 3, 4);
  private final Tensor three = Tensor.allocate(DType.INT64, 3);
  private final Tensor five = Tensor.allocate(DType.INT64, 5);
  private final Tensor all = Tensor.allocate(DType.INT64, 6);

  @Test
  void describesACollectiveByTypeElementsReductionAndRoot() {
    assertThat(OperationSpec.reduce(matrix, ReduceOp.SUM, 2).describe(7))
        .isEqualTo("reduce #7 (float32 x 12, SUM, root 2)");
    assertThat(OperationSpec.broadcast(Tensor.allocate(DType.UINT8, 1024), 0).describe(0))
        .isEqualTo("broadcast #0 (uint8 x 1,024, root 0)");
    assertThat(OperationSpec.barrier().describe(1)).isEqualTo("barrier #1");
  }

  @Test
  void describesAMessageByPeerAndTag() {
    assertThat(OperationSpec.send(three, 1, 5).describe(0))
        .isEqualTo("send #0 (int64 x 3, to rank 1, tag 5)");
    assertThat(OperationSpec.recv(three, 2, 0).details()).isEqualTo("from rank 2, tag 0");
    assertThat(OperationSpec.recvAny(three, 9).details()).isEqualTo("from any rank, tag 9");
  }

  @Test
  void keepsTheShapesOfInputsAndOutputs() {
    OperationSpec inPlace = OperationSpec.allReduce(matrix, ReduceOp.SUM);
    assertThat(inPlace.inputShapes()).containsExactly(List.of(3L, 4L));
    assertThat(inPlace.outputShapes()).isEqualTo(inPlace.inputShapes());
    OperationSpec gather = OperationSpec.allGather(all, three);
    assertThat(gather.inputShapes()).containsExactly(List.of(3L));
    assertThat(gather.outputShapes()).containsExactly(List.of(6L));
    assertThat(gather.inputCount()).isEqualTo(3);
    assertThat(gather.outputCount()).isEqualTo(6);
  }

  @Test
  void ranksAgreeOnTheCountThatIsTheSameOnAll() {
    assertThat(OperationSpec.allReduce(matrix, ReduceOp.SUM).agreedCount()).isEqualTo(12);
    assertThat(OperationSpec.allGather(all, three).agreedCount()).isEqualTo(6);
    assertThat(OperationSpec.reduceScatter(three, all, ReduceOp.SUM).agreedCount()).isEqualTo(6);
    assertThat(OperationSpec.gather(List.of(three, five), three, 0).agreedCount()).isZero();
    assertThat(OperationSpec.send(three, 1, 0).agreedCount()).isZero();
  }

  @Test
  void listsOfTheSameTotalAndOtherSizesDifferInTheirDigest() {
    int digest = OperationSpec.allReduceCoalesced(List.of(three, five), ReduceOp.SUM).sizesDigest();
    assertThat(OperationSpec.allReduceCoalesced(List.of(five, three), ReduceOp.SUM).sizesDigest())
        .isNotEqualTo(digest);
    assertThat(OperationSpec.allReduceCoalesced(List.of(three, five), ReduceOp.MAX).sizesDigest())
        .isEqualTo(digest)
        .isNotZero();
    assertThat(OperationSpec.allReduce(three, ReduceOp.SUM).sizesDigest()).isZero();
  }

  @Test
  void whatARankSendsToEachFollowsFromTheRootOrTheParts() {
    OperationSpec gather = OperationSpec.gather(List.of(three, five), five, 1);
    assertThat(gather.sends(2)).containsExactly(0, 5);
    assertThat(gather.receives(2)).containsExactly(3, 5);
    OperationSpec atLeaf = OperationSpec.gather(List.of(), three, 1);
    assertThat(atLeaf.sends(2)).containsExactly(0, 3);
    assertThat(atLeaf.receives(2)).containsExactly(0, 0);
    OperationSpec scatter = OperationSpec.scatter(five, List.of(), 0);
    assertThat(scatter.sends(2)).containsExactly(0, 0);
    assertThat(scatter.receives(2)).containsExactly(5, 0);
    OperationSpec exchange = OperationSpec.allToAll(List.of(three, five), List.of(five, three));
    assertThat(exchange.sends(2)).containsExactly(5, 3);
    assertThat(exchange.receives(2)).containsExactly(3, 5);
    assertThat(OperationSpec.allReduce(three, ReduceOp.SUM).sends(2)).isEmpty();
  }

  @Test
  void callsAreEqualWhereTheRanksAgree() {
    CollectiveCall call = OperationSpec.reduceScatter(three, all, ReduceOp.SUM).call(1, 4);
    assertThat(call)
        .isEqualTo(OperationSpec.reduceScatter(three, all, ReduceOp.SUM).call(1, 4))
        .isNotEqualTo(OperationSpec.reduceScatter(three, all, ReduceOp.MAX).call(1, 4));
    assertThat(call.shapes()).containsExactly(List.of(3L));
    assertThat(call.count()).isEqualTo(6);
    assertThat(OperationSpec.barrier().call(0, 0).count()).isEqualTo(-1);
  }

  @Test
  void ranksAgreeOnTheShapeOfASparseTensorAndNotOnItsValues() {
    long[] shape = {10};
    SparseTensor one = SparseTensor.of(shape, Tensor.of(2L).reshape(1, 1), Tensor.of(1.0f));
    SparseTensor two =
        SparseTensor.of(shape, Tensor.of(2L, 3L).reshape(1, 2), Tensor.of(1.0f, 2.0f));
    assertThat(OperationSpec.allReduce(one).call(0, 0))
        .isEqualTo(OperationSpec.allReduce(two).call(0, 0));
    assertThat(OperationSpec.allReduce(one).type()).isEqualTo(OpType.ALL_REDUCE_SPARSE);
  }

  @Test
  void aRecordOfALongListKeepsTheSumOfItsCounts() {
    List<Tensor> many = Collections.nCopies(OperationSpec.MOST_RECORDED_SHAPES + 1, three);
    OperationSpec spec = OperationSpec.allReduceCoalesced(many, ReduceOp.SUM);
    assertThat(spec.inputShapes()).hasSize(many.size());
    assertThat(spec.forRecord().inputShapes()).containsExactly(List.of(3L * many.size()));
    assertThat(spec.forRecord().inputCount()).isEqualTo(spec.inputCount());
    OperationSpec few = OperationSpec.allReduceCoalesced(List.of(three, five), ReduceOp.SUM);
    assertThat(few.forRecord()).isSameAs(few);
  }
}
