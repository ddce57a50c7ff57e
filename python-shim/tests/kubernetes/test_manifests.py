"""The manifests of the examples, and what an API server makes of them."""

from kubernetes.cluster import EXAMPLES, NAMESPACE
from kubernetes.test_kubernetes import RANKS


def test_the_api_server_takes_the_policy(cluster):
    assert cluster.create(EXAMPLES / "network-policy.yaml") == ""


def submit_as(cluster, account, who="driver"):
    # The API server takes a token for the name of an account.
    settings = {f"spark.kubernetes.authenticate.{who}.oauthToken": account}
    return cluster.submit(*RANKS, "exchange", "4", mode="cluster", settings=settings)


def test_the_role_of_the_account_has_the_rights_that_a_driver_needs(cluster):
    assert cluster.create(EXAMPLES / "service-account.yaml") == ""
    application = submit_as(cluster, "spark")
    assert len(application.results()) == 4
    assert "forbidden" not in cluster.log(), application.said()


def test_a_driver_without_a_role_gets_no_executors(cluster):
    application = submit_as(cluster, "somebody")
    application.await_end(fails=True)
    assert application.executors() == {}
    assert "forbidden GET" in cluster.log(), application.said()


OPERATOR = {"namespace": "spark-operator", "name": "spark-operator-controller"}


def rights_of_the_chart():
    """Return what the operator's Helm chart lets it do with what an application consists of."""
    verbs = ["get", "list", "watch", "create", "update", "patch", "delete"]
    resources = ["pods", "configmaps", "services"]
    group = "rbac.authorization.k8s.io"
    made = {"apiVersion": f"{group}/v1", "metadata": {"namespace": NAMESPACE, "name": "chart"}}
    rule = {"apiGroups": [""], "resources": resources, "verbs": verbs}
    bound = {"apiGroup": group, "kind": "Role", "name": "chart"}
    subject = {"kind": "ServiceAccount", **OPERATOR}
    return (
        {**made, "kind": "Role", "rules": [rule]},
        {**made, "kind": "RoleBinding", "subjects": [subject], "roleRef": bound},
    )


def test_the_operator_submits_with_its_role_and_not_without(cluster):
    account = "/".join(OPERATOR.values())
    assert cluster.create(*rights_of_the_chart()) == ""
    refusal = submit_as(cluster, account, "submission").await_refusal()
    assert "/networkpolicies/" in refusal
    assert cluster.create(EXAMPLES / "operator-role.yaml") == ""
    assert len(submit_as(cluster, account, "submission").results()) == 4


def test_a_field_that_kubernetes_does_not_have_is_refused(cluster, tmp_path):
    wrong = tmp_path / "policy.yaml"
    wrong.write_text((EXAMPLES / "network-policy.yaml").read_text().replace("ports:", "port:"))
    assert cluster.create(wrong) == "unknown field NetworkPolicy.spec.ingress[0].port"


def test_a_kind_that_kubernetes_does_not_have_is_refused(cluster):
    resource = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetPolicy",
        "metadata": {"name": "any", "namespace": NAMESPACE},
    }
    assert "NetPolicy" in cluster.create(resource)
