// The Python environment that is selected in the editor, from the Python extension where that is installed.
import * as vscode from "vscode";

export interface PythonEnvironment {
  interpreter: string;
  /** The folder of the environment (`sys.prefix`). */
  prefix?: string;
}

// As much of the API of ms-python.python as is used: https://github.com/microsoft/vscode-python/wiki/Python-Environment-APIs
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(
      environment: { path: string },
    ): Promise<{ executable: { uri?: vscode.Uri; sysPrefix?: string } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

async function api(): Promise<PythonApi | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (extension === undefined) return undefined;
  const exported = extension.isActive ? extension.exports : await extension.activate();
  return typeof exported?.environments?.getActiveEnvironmentPath === "function" ? exported : undefined;
}

export async function selectedEnvironment(
  folder: vscode.Uri | undefined,
  log: (line: string) => void,
): Promise<PythonEnvironment | undefined> {
  try {
    const python = await api();
    if (python === undefined) return undefined;
    const resolved = await python.environments.resolveEnvironment(python.environments.getActiveEnvironmentPath(folder));
    const interpreter = resolved?.executable.uri?.fsPath;
    if (interpreter === undefined) return undefined;
    const prefix = resolved?.executable.sysPrefix;
    return prefix ? { interpreter, prefix } : { interpreter };
  } catch (error) {
    log(`the Python extension was of no help: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/** Calls back when another environment is selected. */
export async function whenSelected(then: () => void): Promise<vscode.Disposable | undefined> {
  try {
    return (await api())?.environments.onDidChangeActiveEnvironmentPath(then);
  } catch {
    return undefined;
  }
}
