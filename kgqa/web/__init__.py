"""Code that both web apps share: guards around every route, rendering of templates, error pages, and the server."""
