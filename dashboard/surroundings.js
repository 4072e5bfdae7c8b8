// Tells the document its language, and Python the colour scheme whenever the two differ.
export default ({ data, parentElement, setStateValue }) => {
  document.documentElement.lang = data.lang;
  const app = document.querySelector(".stApp") ?? document.documentElement;
  const scheme = getComputedStyle(app).colorScheme.includes("dark") ? "dark" : "light";
  if (scheme !== data.scheme) setStateValue("scheme", scheme);
  document.removeEventListener("keydown", window.followKeys);
  document.addEventListener("keydown", (window.followKeys = followKeys));
  window.formulas ??= new ResizeObserver(reachFormulas);
  window.formulas.observe(document.querySelector(".stMainBlockContainer") ?? app);
  reachFormulas();
};

function followKeys(event) {
  if (event.key !== "Enter" && event.key !== " ") return;
  enterPopover(event);
  stayInFigure(event);
}

// Streamlit puts an open popover at the end of the document, dozens of stops of the Tab key away from its button. Who opens
// it by keyboard is taken inside; Escape leads back to the button.
function enterPopover({ target }) {
  if (target.closest?.(".stPopover button") && !document.querySelector("[data-testid=stPopoverBody]")) step(30);
}

// Fields arrive one after the other, the button of a form before its text area: the first is taken once none is awaited.
function step(tries, before = 0) {
  const inside = (what) => document.querySelectorAll(`[data-testid=stPopoverBody] ${what}`);
  const fields = inside(":is(textarea, button, a[href])");
  if (fields.length && fields.length === before && !inside("[data-testid=stSkeleton]").length) fields[0].focus();
  else if (tries) setTimeout(step, 100, tries - 1, fields.length);
}

// A button that reveals something is gone once it is pressed, and the focus would fall to the top of the page: it goes on with
// the first button of the same figure, as soon as there is one, and with the next where the figure is drawn anew after that.
function stayInFigure({ target }) {
  const figure = target.closest?.("[class*=st-key-figure-]");
  const pressed = figure && target.closest("button");
  if (pressed) stay(figure.className.match(/st-key-figure-[\w-]+/)[0], pressed, 100);
}

function stay(figure, held, tries) {
  const gone = !held?.isConnected || held.disabled;
  if (gone && document.activeElement === document.body) {
    held = document.querySelector(`.${figure} button:enabled`);
    held?.focus();
  }
  if (tries && (gone || document.activeElement === held)) setTimeout(stay, 100, figure, held, tries - 1);
}

// A formula that is wider than its column scrolls, and what scrolls must be within reach of the keyboard.
function reachFormulas() {
  for (const box of document.querySelectorAll(".katex-display")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
