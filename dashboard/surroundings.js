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

function step(tries) {
  const field = document.querySelector("[data-testid=stPopoverBody] :is(textarea, button, a[href])");
  if (field) field.focus();
  else if (tries) setTimeout(step, 100, tries - 1);
}
