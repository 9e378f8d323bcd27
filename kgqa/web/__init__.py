"""What pages share: what stands before every route, how templates are rendered, how errors are told, how a page is served."""
