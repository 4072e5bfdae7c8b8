// Tells the document its language, and Python the colour scheme whenever the two differ.
export default ({ data, parentElement, setStateValue }) => {
  document.documentElement.lang = data.lang;
  const app = document.querySelector(".stApp") ?? document.documentElement;
  const scheme = getComputedStyle(app).colorScheme.includes("dark") ? "dark" : "light";
  if (scheme !== data.scheme) setStateValue("scheme", scheme);
  document.removeEventListener("keydown", window.enterPopover);
  document.addEventListener("keydown", (window.enterPopover = enterPopover));
};

// Streamlit puts an open popover at the end of the document, dozens of stops of the Tab key away from its button. Who opens
// it by keyboard is taken inside; Escape leads back to the button.
function enterPopover({ key, target }) {
  const opens = target.closest?.(".stPopover button") && !document.querySelector("[data-testid=stPopoverBody]");
  if (opens && (key === "Enter" || key === " ")) step(30);
}

// Fields arrive one after the other, the button of a form before its text area: the first is taken once none is awaited.
function step(tries, before = 0) {
  const inside = (what) => document.querySelectorAll(`[data-testid=stPopoverBody] ${what}`);
  const fields = inside(":is(textarea, button, a[href])");
  if (fields.length && fields.length === before && !inside("[data-testid=stSkeleton]").length) fields[0].focus();
  else if (tries) setTimeout(step, 100, tries - 1, fields.length);
}
