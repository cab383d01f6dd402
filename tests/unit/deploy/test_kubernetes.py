"""The Kubernetes manifests: they fit together, name settings that exist, and keep what was learned."""

import shutil
import subprocess
import tomllib

import pytest
import yaml

from librarian.base.settings.settings import Settings

KUBECTL = shutil.which("kubectl")


@pytest.fixture(scope="module")
def folder(deploy):
    return deploy / "kubernetes"


@pytest.fixture(scope="module")
def kustomization(folder):
    return yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def objects(folder, kustomization):
    """Every object of the listed files, by kind."""
    texts = [(folder / name).read_text(encoding="utf-8") for name in kustomization["resources"]]
    return {found["kind"]: found for text in texts for found in yaml.safe_load_all(text)}


@pytest.fixture(scope="module")
def pod(objects):
    return objects["Deployment"]["spec"]["template"]["spec"]


@pytest.fixture(scope="module")
def settings_of_pods(kustomization):
    (generated,) = kustomization["configMapGenerator"]
    return generated["name"], dict(pair.split("=", 1) for pair in generated["literals"])


def test_every_file_is_listed(folder, kustomization):
    assert {path.name for path in folder.glob("*.yaml")} == {*kustomization["resources"], "kustomization.yaml"}


@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")
def test_kustomize_puts_it_together(folder):
    done = subprocess.run([KUBECTL, "kustomize", folder], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {entry["metadata"].get("namespace", "librarian") for entry in yaml.safe_load_all(done.stdout)} == {
        "librarian"
    }


def test_its_variables_are_settings(settings_of_pods, setting_names, pod, tmp_path):
    """Together they make settings; secrets are none of them, they come from mounted files."""
    name, variables = settings_of_pods
    assert set(variables) <= setting_names
    password = tmp_path / "password"
    password.write_text("s3cret\n")
    settings = Settings.from_env({**variables, "NEO4J_PASSWORD_FILE": str(password)})
    assert settings.neo4j.password == "s3cret"
    for container in (*pod["initContainers"], *pod["containers"]):
        assert container["envFrom"] == [{"configMapRef": {"name": name}}]


def test_secrets_are_mounted_where_the_settings_look(settings_of_pods, pod):
    """The key file and the password, read-only and for the service's group alone; no Secret stands in a file here."""
    _, variables = settings_of_pods
    secrets = {volume["name"]: volume["secret"] for volume in pod["volumes"] if "secret" in volume}
    mounts = {mount["name"]: mount for mount in pod["containers"][0]["volumeMounts"]}
    for name, secret in secrets.items():
        assert secret["defaultMode"] == 0o440
        assert mounts[name]["readOnly"]
    assert variables["LIBRARIAN_KEYS_FILE"].startswith(mounts["keys"]["mountPath"] + "/")
    assert variables["NEO4J_PASSWORD_FILE"].startswith(mounts["neo4j"]["mountPath"] + "/")


def test_the_service_does_not_name_its_own_port(pod):
    """Kubernetes would set LIBRARIAN_PORT=tcp://… in every pod beside a Service of this name."""
    assert pod["enableServiceLinks"] is False


def test_probes_ask_what_they_are_for(pod):
    """Liveness never depends on the database."""
    container = pod["containers"][0]
    asked = {name: container[name]["httpGet"]["path"] for name in ("livenessProbe", "readinessProbe")}
    assert asked == {"livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    assert container["ports"][0]["containerPort"] == 8765


def test_pods_are_locked_down(pod):
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["runAsUser"] == 10001
    for container in (*pod["initContainers"], *pod["containers"]):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_objects_select_the_pods(objects):
    """Service, budget and policy mean the pods of the Deployment, and the budget leaves room for an update."""
    deployment = objects["Deployment"]["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    assert deployment["selector"]["matchLabels"] == labels
    assert objects["Service"]["spec"]["selector"] == labels
    assert objects["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert objects["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"] == labels
    assert objects["PodDisruptionBudget"]["spec"]["minAvailable"] < deployment["replicas"]


def test_the_image_is_of_this_version(pod, project):
    version = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    images = {container["image"] for container in (*pod["initContainers"], *pod["containers"])}
    assert images == {f"librarian:{version}"}
