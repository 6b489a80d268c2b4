// The extension: starts `fullgraph server` for the workspace and adds the commands. What can be decided without the
// editor is decided in the files beside this one, where it is tested.
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

import {
  argumentsBefore,
  findProgram,
  isOlder,
  minimumVersion,
  missingMessage,
  serverEnvironment,
  tooOldMessage,
  versionOf,
} from "./program";
import { selectedEnvironment, whenSelected } from "./python";
import { allRules, codesAt, findRule, page, type Rule } from "./rules";
import { answers, needsRestart, serverSettings } from "./settings";

const scheme = "fullgraph-rule";

interface Started {
  program: string;
  arguments: string[];
  environment: NodeJS.ProcessEnv;
}

class Extension {
  private client: LanguageClient | undefined;
  /** The program of the last start; commands that ask it something need no server. */
  private started: Started | undefined;
  private rules: Rule[] | undefined;
  /** Starts and stops come one after the other, whoever asks for them. */
  private queue: Promise<void> = Promise.resolve();

  constructor(private readonly output: vscode.OutputChannel) {}

  restart(): Promise<void> {
    return this.next(async () => {
      await this.stopNow();
      await this.startNow();
    });
  }

  stop(): Promise<void> {
    return this.next(() => this.stopNow());
  }

  private next(what: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(what).catch((error: unknown) => {
      // What went wrong once must not keep the next start from being tried.
      void this.tellProblem(`fullgraph: ${error instanceof Error ? error.message : error}`);
    });
    return this.queue;
  }

  /** Another environment was selected: that matters only where the answer is another. */
  async reconsider(): Promise<void> {
    const before = this.started;
    const now = await this.look();
    const same = (key: (one: Started) => unknown) => before !== undefined && now !== undefined && key(before) === key(now);
    if (!same((one) => one.program) || !same((one) => one.environment["VIRTUAL_ENV"])) await this.restart();
  }

  async told(): Promise<void> {
    await this.client?.sendNotification("workspace/didChangeConfiguration", { settings: null });
  }

  showOutput(): void {
    this.output.show(true);
  }

  async fixFile(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (document?.languageId !== "python") {
      void vscode.window.showInformationMessage("fullgraph: open the Python file that is to be repaired.");
      return;
    }
    if (this.client === undefined) return this.tellNoServer();
    await this.client.sendRequest("workspace/executeCommand", {
      command: "fullgraph.applyAutofix",
      arguments: [{ uri: document.uri.toString() }],
    });
  }

  /** The rule that is named, else that of the finding under the cursor, else the one that is chosen. */
  async explainRule(wanted?: unknown): Promise<void> {
    const started = this.started ?? (await this.look());
    if (started === undefined) return this.tellNoServer();
    try {
      const before = argumentsBefore(started.arguments);
      this.rules ??= await allRules(started.program, before, started.environment);
    } catch (error) {
      void vscode.window.showErrorMessage(`fullgraph: ${error instanceof Error ? error.message : error}`);
      return;
    }
    const rule = typeof wanted === "string" ? findRule(this.rules, wanted) : await this.chooseRule(this.rules);
    if (rule === undefined) {
      if (typeof wanted === "string") void vscode.window.showErrorMessage(`fullgraph: there is no rule ${wanted}.`);
      return;
    }
    const uri = vscode.Uri.from({ scheme, path: `/${rule.code}.md` });
    await vscode.commands.executeCommand("markdown.showPreview", uri);
  }

  /** The text behind a `fullgraph-rule:/FG101.md`. */
  pageOf(uri: vscode.Uri): string {
    const rule = findRule(this.rules ?? [], uri.path.replace(/^\//, "").replace(/\.md$/, ""));
    return rule === undefined ? "" : page(rule);
  }

  private async chooseRule(rules: Rule[]): Promise<Rule | undefined> {
    const editor = vscode.window.activeTextEditor;
    const codes =
      editor === undefined ? [] : codesAt(vscode.languages.getDiagnostics(editor.document.uri), editor.selection.active);
    const found = codes.map((code) => findRule(rules, code)).filter((rule): rule is Rule => rule !== undefined);
    if (found.length === 1) return found[0];
    const items = (found.length > 0 ? found : rules).map((rule) => ({
      label: rule.code,
      description: rule.name,
      detail: rule.summary,
      rule,
    }));
    const options = { placeHolder: "Rule to explain", matchOnDescription: true, matchOnDetail: true };
    return (await vscode.window.showQuickPick(items, options))?.rule;
  }

  private folder(): vscode.Uri | undefined {
    return vscode.workspace.workspaceFolders?.[0]?.uri;
  }

  /** What would be started now. Where nothing can be, `tell` gets the reason. */
  private async look(tell?: (message: string) => void): Promise<Started | undefined> {
    const settings = vscode.workspace.getConfiguration("fullgraph");
    const folder = this.folder();
    // What an untrusted workspace selects is not run.
    const python = vscode.workspace.isTrusted
      ? await selectedEnvironment(folder, (line) => this.output.appendLine(line))
      : undefined;
    const found = findProgram({
      setting: settings.get<string>("path", ""),
      ...(python === undefined ? {} : { python: python.interpreter }),
      ...(folder === undefined ? {} : { folder: folder.fsPath }),
      environment: process.env,
      platform: process.platform,
    });
    if ("why" in found) {
      tell?.(missingMessage(found));
      return undefined;
    }
    const parameters = settings.get<string[]>("args", ["server"]);
    const environment = serverEnvironment(process.env, python?.prefix);
    const version = await versionOf(found.path, argumentsBefore(parameters), environment);
    if (version === undefined || isOlder(version, minimumVersion)) {
      tell?.(tooOldMessage(found.path, version));
      return undefined;
    }
    this.output.appendLine(`fullgraph ${version}: ${found.path} (${found.from})`);
    return { program: found.path, arguments: parameters, environment };
  }

  private async startNow(): Promise<void> {
    if (!vscode.workspace.getConfiguration("fullgraph").get<boolean>("enable", true)) {
      this.output.appendLine("not started: fullgraph.enable is false");
      return;
    }
    const started = await this.look((message) => void this.tellProblem(message));
    if (started === undefined) return;
    const folder = this.folder();
    const server: ServerOptions = {
      command: started.program,
      args: started.arguments,
      options: { env: started.environment, ...(folder === undefined ? {} : { cwd: folder.fsPath }) },
    };
    const options: LanguageClientOptions = {
      documentSelector: [
        { language: "python", scheme: "file" },
        { language: "python", scheme: "untitled" },
      ],
      outputChannel: this.output,
      initializationOptions: serverSettings(vscode.workspace.getConfiguration().get("fullgraph")),
      middleware: {
        workspace: {
          configuration: async (parameters, token, next) => {
            const results = await next(parameters, token);
            return Array.isArray(results) ? answers(parameters.items, results) : results;
          },
        },
      },
    };
    // The id is also the section of `trace.server`.
    const client = new LanguageClient("fullgraph", "fullgraph", server, options);
    try {
      await client.start();
      this.client = client;
      this.started = started;
      this.rules = undefined; // another program may have others
    } catch (error) {
      void this.tellProblem(`fullgraph server did not start: ${error instanceof Error ? error.message : error}`);
    }
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.started = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      // A server that died or hangs is as good as stopped.
      this.output.appendLine(`stopping the server: ${error instanceof Error ? error.message : error}`);
    }
  }

  private tellNoServer(): void {
    void this.tellProblem("fullgraph does not run; the output says why.");
  }

  private async tellProblem(message: string): Promise<void> {
    this.output.appendLine(message);
    const settings = "Open Settings";
    const output = "Show Output";
    const chosen = await vscode.window.showErrorMessage(message, settings, output);
    if (chosen === output) this.showOutput();
    if (chosen === settings) await vscode.commands.executeCommand("workbench.action.openSettings", "fullgraph.path");
  }
}

let extension: Extension | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("fullgraph");
  const own = new Extension(output);
  extension = own;
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand("fullgraph.restart", () => own.restart()),
    vscode.commands.registerCommand("fullgraph.showOutput", () => own.showOutput()),
    vscode.commands.registerCommand("fullgraph.fixFile", () => own.fixFile()),
    vscode.commands.registerCommand("fullgraph.explainRule", (code?: unknown) => own.explainRule(code)),
    vscode.workspace.registerTextDocumentContentProvider(scheme, { provideTextDocumentContent: (uri) => own.pageOf(uri) }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (!event.affectsConfiguration("fullgraph")) return;
      await (needsRestart.some((name) => event.affectsConfiguration(name)) ? own.restart() : own.told());
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => own.restart()),
  );
  await own.restart();
  const selection = await whenSelected(() => void own.reconsider());
  if (selection !== undefined) context.subscriptions.push(selection);
}

export async function deactivate(): Promise<void> {
  await extension?.stop();
}
