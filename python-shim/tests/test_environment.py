"""What the script `test` does when a part of the environment cannot be installed."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "test"

#: Instead of a Python that makes an environment: its pip leaves half of STOPS_AT, as one that is
#: stopped does, and its python cannot import that, nor LACKS_A_LIBRARY.
PYTHON = """#!/bin/sh
if [ "$2" != venv ]; then exit 0; fi
mkdir -p "$3/bin" "$3/lib/python3.11/site-packages"
cat > "$3/bin/pip" <<'END'
#!/bin/sh
packages="$(dirname "$0")/../lib/python3.11/site-packages"
for each in "$@"; do
  case "$each" in torch | lightgbm | expecttest) mkdir -p "$packages/$each" ;; esac
  if [ "$each" = "$STOPS_AT" ]; then
    touch "$packages/$each/half"
    exit 1
  fi
done
END
cat > "$3/bin/python" <<'END'
#!/bin/sh
name=${2#import }
packages="$(dirname "$0")/../lib/python3.11/site-packages"
[ "$name" != "$LACKS_A_LIBRARY" ] && [ ! -e "$packages/$name/half" ]
END
chmod +x "$3/bin/pip" "$3/bin/python"
"""


def make(folder, **variables):
    python = folder / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    environment = {
        "COLLECTIVES_PYTHON": str(python),
        "COLLECTIVES_ENVIRONMENT": str(folder / "made"),
        "COLLECTIVES_CHECKS": "none",
        "COLLECTIVES_TORCH": "torch",
    }
    ended = subprocess.run(
        ["sh", SCRIPT, "--sources-only"],
        env={"PATH": os.environ["PATH"], **environment, **variables},
        text=True,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    packages = folder / "made/lib/python3.11/site-packages"
    return ended, sorted(each.name for each in packages.iterdir())


def test_all_that_can_be_installed_stays(tmp_path):
    ended, packages = make(tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert packages == ["expecttest", "lightgbm", "torch"]


@pytest.mark.parametrize("fault", ["STOPS_AT", "LACKS_A_LIBRARY"])
@pytest.mark.parametrize("package", ["torch", "lightgbm"])
def test_what_cannot_be_imported_goes(package, fault, tmp_path):
    ended, packages = make(tmp_path, **{fault: package})
    assert ended.returncode == 0, ended.stderr
    assert "could not be installed" in ended.stderr
    assert package not in packages


@pytest.mark.parametrize("fault", ["STOPS_AT", "LACKS_A_LIBRARY"])
@pytest.mark.parametrize("package", ["torch", "lightgbm"])
def test_it_is_an_error_where_it_is_required(package, fault, tmp_path):
    ended, _ = make(tmp_path, **{fault: package}, COLLECTIVES_REQUIRED="1")
    assert ended.returncode == 1, ended.stderr
