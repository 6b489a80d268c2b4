// Stands in for the editor: holds what a test says of it, and notes what the extension asked it to do.
type Listener = (event: unknown) => unknown;

export const state = {
  settings: {} as Record<string, unknown>,
  trusted: true,
  python: undefined as { interpreter: string; prefix: string } | undefined,
  folder: undefined as string | undefined,
  diagnostics: [] as unknown[],
  editor: undefined as unknown,
  choice: (_items: { label: string }[]): unknown => undefined,
  answer: undefined as string | undefined,
  commands: new Map<string, (...given: unknown[]) => unknown>(),
  executed: [] as unknown[][],
  messages: [] as string[],
  log: [] as string[],
  shown: 0,
  configured: undefined as Listener | undefined,
  selected: undefined as (() => void) | undefined,
  pages: undefined as { provideTextDocumentContent(uri: unknown): string } | undefined,
};

const disposable = { dispose() {} };
const uri = (path: string) => ({ fsPath: path, path, scheme: "file", toString: () => `file://${path}` });

export const Uri = { from: (parts: { scheme: string; path: string }) => ({ ...uri(parts.path), ...parts }) };

export const window = {
  get activeTextEditor() {
    return state.editor;
  },
  createOutputChannel: () => ({
    appendLine: (line: string) => void state.log.push(line),
    show: () => void ++state.shown,
    dispose() {},
  }),
  showErrorMessage: async (message: string) => (state.messages.push(message), state.answer),
  showInformationMessage: async (message: string) => void state.messages.push(message),
  showQuickPick: async (items: { label: string }[]) => state.choice(items),
};

export const workspace = {
  get isTrusted() {
    return state.trusted;
  },
  get workspaceFolders() {
    return state.folder === undefined ? undefined : [{ uri: uri(state.folder) }];
  },
  getConfiguration: (section?: string) => ({
    get: (name: string, otherwise?: unknown) =>
      section === undefined ? state.settings : (state.settings[name] ?? otherwise),
  }),
  onDidChangeConfiguration: (listener: Listener) => ((state.configured = listener), disposable),
  onDidGrantWorkspaceTrust: () => disposable,
  registerTextDocumentContentProvider: (_: string, pages: typeof state.pages) => ((state.pages = pages), disposable),
};

export const languages = { getDiagnostics: () => state.diagnostics };

export const commands = {
  registerCommand(name: string, run: (...given: unknown[]) => unknown) {
    state.commands.set(name, run);
    return disposable;
  },
  executeCommand: async (...given: unknown[]) => void state.executed.push(given),
};

// As much of the Python extension's API as it has: an environment by its path, then what is known of it.
export const extensions = {
  getExtension: () =>
    state.python && {
      isActive: true,
      exports: {
        environments: {
          getActiveEnvironmentPath: () => ({ path: state.python?.interpreter }),
          resolveEnvironment: async () => ({
            executable: { uri: uri(state.python?.interpreter ?? ""), sysPrefix: state.python?.prefix },
          }),
          onDidChangeActiveEnvironmentPath: (then: () => void) => ((state.selected = then), disposable),
        },
      },
    },
};
