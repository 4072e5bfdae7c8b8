// Tells the document its language, and Python the colour scheme whenever the two differ.
export default ({ data, parentElement, setStateValue }) => {
  document.documentElement.lang = data.lang;
  const app = document.querySelector(".stApp") ?? document.documentElement;
  const scheme = getComputedStyle(app).colorScheme.includes("dark") ? "dark" : "light";
  if (scheme !== data.scheme) setStateValue("scheme", scheme);
};
